"""Mutants of `runtime`: arguments, leases, poison, premises, graphs, the cache on disk."""

from __future__ import annotations

from .mutant import Mutant

RUNTIME = [
    Mutant(
        "src/tileproof/runtime/leases.py",
        ("        if len(self._attached) == 1:\n            return []\n        seen"),
        ("        if len(self._attached) <= 2:\n            return []\n        seen"),
        "tests/runtime/test_two_streams.py::test_a_write_waits_for_the_write_of_another_stream",
        "Work of two streams that use the same bytes is ordered.",
    ),
    Mutant(
        "src/tileproof/runtime/leases.py",
        ("            for stream, turn in held:\n                stream.until(turn)\n        if error"),
        (
            "            for stream, turn in held[:0]:\n"
            "                stream.until(turn)\n"
            "            error = None\n"
            "            break\n"
            "        if error"
        ),
        ("tests/runtime/test_tensors.py::test_the_host_reads_what_a_kernel_in_flight_will_have_written[<lambda>9]"),
        "The host waits for work that writes what it reads.",
    ),
    Mutant(
        "src/tileproof/runtime/leases.py",
        (
            "            elif self.poisoned:\n"
            "                for span in work.written():\n"
            "                    self.cure(span)\n"
        ),
        "",
        "tests/runtime/test_leases.py::test_work_is_not_taken_to_be_done_before_what_it_waited_for",
        "What is written anew is poisoned no more.",
    ),
    Mutant(
        "src/tileproof/runtime/leases.py",
        ("        if self.poisoned or self._uncertain:\n            return False"),
        ("        if self.poisoned:\n            return False"),
        (
            "tests/runtime/test_poison.py::test_what_failed_in_flight_is_told_to_who_makes_memory_of_ot"
            "hers_of_it[True-a copy]"
        ),
        "Premises are copied without leases only while nothing may fail.",
    ),
    Mutant(
        "src/tileproof/runtime/streams.py",
        ("        if not work.is_current():\n            raise Outdated\n"),
        "",
        ("tests/runtime/test_host_attacks.py::test_nobody_follows_a_plan_between_the_last_look_and_the_launch"),
        "Guards are asked when the leases are taken.",
    ),
    Mutant(
        "src/tileproof/runtime/streams.py",
        "        ledger.note(self, turn, work)\n",
        "        self.pending.append((turn, work))\n",
        "tests/runtime/test_cuda_streams.py::test_what_was_waited_for_is_not_waited_for_again",
        "Work that is given takes its leases.",
    ),
    Mutant(
        "src/tileproof/runtime/streams.py",
        "            self.errors[work.turn] = error\n",
        "",
        "tests/runtime/test_poison.py::test_a_failed_check_is_raised_once_by_synchronize",
        "What went wrong is raised by the next wait for the stream.",
    ),
    Mutant(
        "src/tileproof/runtime/proofs.py",
        ("            if isinstance(found, type) and found.__module__ == module:\n                return found"),
        "            return found",
        "tests/runtime/test_following_streams.py::test_another_backend_is_asked",
        "A kept proof makes no objects but tileproof's own classes.",
    ),
    Mutant(
        "src/tileproof/runtime/proofs.py",
        "tuple((name, dtype.name) for name, dtype in specialisation.dtypes), specialisation.constants,",
        "tuple((name, dtype.name) for name, dtype in specialisation.dtypes),",
        "tests/runtime/test_repeats.py::test_arguments_by_position_and_by_name[in Python]",
        "A proof is for the constants that it was made with.",
    ),
    Mutant(
        "src/tileproof/runtime/proofs.py",
        'return digest("proof of", first, names, *(_said(capture.value, files) for capture in captures))',
        'return digest("proof of", first, names)',
        "tests/runtime/test_repeats.py::test_helpers_that_change[in Python]",
        "A proof is for the values that the kernel captured.",
    ),
    Mutant(
        "src/tileproof/runtime/proofs.py",
        ("if not any(_code(each) == _code(code) for each in _functions_in(whole) if each.co_firstlineno == first):"),
        "if False:",
        "tests/runtime/test_proofs.py::test_a_helper_edited_on_disk_after_its_import[False]",
        "A helper whose file changed since has no key.",
    ),
    Mutant(
        "src/tileproof/runtime/cache.py",
        "(_MAGIC, _FORMAT, bytes.fromhex(key), size):",
        "(_MAGIC, _FORMAT, bytes.fromhex(key), size) and size < 0:",
        "tests/runtime/test_cache.py::test_a_file_of_any_length_is_not_read_before_its_header_is_right",
        "An entry of the cache under another's name is a miss.",
    ),
    Mutant(
        "src/tileproof/runtime/cache.py",
        "return status.st_uid != os.geteuid() or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))",
        "return status.st_uid != os.geteuid() or bool(status.st_mode & stat.S_IWOTH)",
        "tests/runtime/test_cache.py::test_a_folder_that_others_may_write_to_is_refused[0o720]",
        "A folder that a group may write is not used.",
    ),
    Mutant(
        "src/tileproof/runtime/cache.py",
        "sorted(_entries(self._files()), key=lambda entry: entry.used)",
        "sorted(_entries(self._files()), key=lambda entry: -entry.used)",
        "tests/runtime/test_cache.py::test_a_hit_counts_as_a_use",
        "What was not used for longest is evicted first.",
    ),
    Mutant(
        "src/tileproof/runtime/facts.py",
        "found = known.get(key) if at == version else None",
        "found = known.get(key)",
        "tests/runtime/test_content_facts.py::test_what_was_measured_in_an_older_version_is_not_kept",
        "What was measured before a write counts no more.",
    ),
    Mutant(
        "src/tileproof/runtime/contracts.py",
        "tensor.name not in read_through and tensor.name not in complete)",
        "tensor.name not in read_through)",
        (
            "tests/runtime/test_content_facts.py::test_a_remembered_fault_is_named_by_a_look_at_the_ent"
            "ries[put-index3-`to[2]` is -1 (none), and an Out is to be written through all entries]"
        ),
        "No entry is none where an Out is covered through all of them.",
    ),
    Mutant(
        "src/tileproof/runtime/storage.py",
        "        return self.account is None or bool(self.lent)",
        "        return bool(self.lent)",
        "tests/runtime/test_tensors_on_gpus.py::test_an_array_on_a_gpu_is_shared",
        "Memory of another library is shared.",
    ),
    Mutant(
        "src/tileproof/runtime/arguments.py",
        "if isinstance(value, float) or not least <= value <= most:",
        "if isinstance(value, float) or not least <= value:",
        "tests/runtime/test_repeats.py::test_numbers_that_may_not_fit[in Python-128-float inf]",
        "A scalar fits its element type.",
    ),
    Mutant(
        "src/tileproof/runtime/graphs.py",
        "inputs += [span for span in each.work.reads if not written.has(np.array([span]))]",
        "inputs += []",
        "tests/runtime/test_graphs.py::test_a_replay_is_in_flight_like_a_launch",
        "A replay takes leases of what it reads.",
    ),
    Mutant(
        "src/tileproof/runtime/cpu_launches.py",
        ("    if _ledger.poisoned and any(map(_ledger.poison_in, reads)):\n        return False\n"),
        "",
        "tests/runtime/test_poison.py::test_what_is_spoiled_does_not_hold_up_other_launches",
        "A repeated launch that would read what failed work wrote is refused.",
    ),
]
