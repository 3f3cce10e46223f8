"""Mutants of `runtime`: arguments, leases, poison, premises, graphs, the cache on disk."""

from __future__ import annotations

from .mutant import Mutant

RUNTIME = [
    Mutant(
        "src/tileproof/runtime/memory/ledger.py",
        "            if block.version != version:\n                return False",
        "            if block.version < version:\n                return False",
        "tests/runtime/launch/test_launch_premises.py::test_work_is_current_while_nobody_writes_what_was_looked_at",
        "A launch whose memory was written since it was looked at is not given.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/ledger.py",
        "        if len(self._attached) == 1:\n            return []\n        seen",
        "        if len(self._attached) <= 2:\n            return []\n        seen",
        "tests/runtime/memory/test_ledger.py::test_work_waits_for_all_that_it_must_and_hosts_see_who_is_in_the_way",
        "Work of two streams that use the same bytes is ordered.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/ledger.py",
        "return self._users(None, () if writing else (span,), (span,) if writing else ())",
        "return self._users(None, (span,), ())",
        "tests/runtime/memory/test_in_flight.py::test_a_host_write_is_refused_while_a_kernel_reads_or_writes",
        "The host does not write what work under way reads.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/ledger.py",
        "            for stream, turn in holders:\n                stream.until(turn)\n        if error",
        (
            "            for stream, turn in holders[:0]:\n"
            "                stream.until(turn)\n"
            "            error = None\n"
            "            break\n"
            "        if error"
        ),
        (
            "tests/runtime/tensor/test_tensors.py::"
            "test_the_host_reads_what_a_kernel_in_flight_will_have_written[<lambda>9]"
        ),
        "The host waits for work that writes what it reads.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/ledger.py",
        (
            "                error = next(filter(None, map(self.poison_in, work.reads)), None)\n"
            "            if error is not None:\n"
            "                work.learn"
        ),
        "                error = None\n            if error is not None:\n                work.learn",
        (
            "tests/runtime/launch/test_cuda_plan_streams.py::"
            "test_what_reads_what_failed_work_should_have_written_is_poisoned_too"
        ),
        "Work that read poisoned bytes poisons what it wrote.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/ledger.py",
        "                self.poison(work.written(), error)",
        "                pass",
        (
            "tests/runtime/launch/test_cuda_plan_streams.py::"
            "test_what_reads_what_failed_work_should_have_written_is_poisoned_too"
        ),
        "What failed work wrote is poisoned.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/ledger.py",
        (
            "            elif self.poisoned:\n"
            "                for span in work.written():\n"
            "                    self.cure(span)\n"
        ),
        "",
        "tests/runtime/memory/test_ledger.py::test_work_is_not_taken_to_be_done_before_what_it_waited_for",
        "A write cures poisoned memory.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/ledger.py",
        "if max(poison.low, low) < min(poison.high, high))",
        "if max(poison.low, low) <= min(poison.high, high))",
        (
            "tests/runtime/memory/test_ownership_attacks.py::"
            "test_what_lies_between_elements_that_the_host_writes_stays_poisoned"
        ),
        "Bytes next to poisoned ones are not poisoned.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/ledger.py",
        "for poison in met if poison.is_there)",
        "for poison in met)",
        (
            "tests/runtime/memory/test_poison.py::"
            "test_what_failed_ends_with_its_memory_and_is_no_fault_of_who_has_the_address_next"
        ),
        "New memory at the address of poisoned memory that is gone is good.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/ledger.py",
        "pieces = (start, min(low, end)), (max(high, start), end)",
        "pieces = ((start, min(low, end)),)",
        (
            "tests/runtime/memory/test_poison.py::"
            "test_what_lies_between_the_elements_that_were_written_anew_stays_spoiled[True]"
        ),
        "A write leaves the poisoned bytes after it poisoned.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/ledger.py",
        "        if self.poisoned or self._uncertain:\n            return False",
        "        if self.poisoned:\n            return False",
        (
            "tests/runtime/memory/test_poison.py::"
            "test_what_failed_in_flight_is_told_to_who_makes_memory_of_others_of_it[True-a copy]"
        ),
        "Premises are copied without leases only while nothing may fail.",
    ),
    Mutant(
        "src/tileproof/runtime/stream/streams.py",
        "        if not work.is_current():\n            raise Outdated\n",
        "",
        (
            "tests/runtime/memory/test_ownership_attacks.py::"
            "test_nobody_follows_a_plan_between_the_last_look_and_the_launch"
        ),
        "Guards are checked when the leases are taken.",
    ),
    Mutant(
        "src/tileproof/runtime/stream/streams.py",
        (
            "        for other, turn in conflicts:\n"
            "            self.order_behind(other, turn)\n"
            "            self.see(other, turn)"
        ),
        "        for other, turn in conflicts:\n            self.see(other, turn)",
        "tests/runtime/stream/test_two_streams.py::test_a_copy_on_one_stream_orders_others",
        "A stream waits where another has leases.",
    ),
    Mutant(
        "src/tileproof/runtime/stream/streams.py",
        "        ledger.note(self, turn, work)\n",
        "        self.pending.append((turn, work))\n",
        "tests/runtime/stream/test_cuda_streams.py::test_what_was_waited_for_is_not_waited_for_again",
        "Work that is given takes its leases.",
    ),
    Mutant(
        "src/tileproof/runtime/stream/streams.py",
        "            self.errors[work.turn] = error\n",
        "",
        "tests/runtime/memory/test_poison.py::test_a_failed_check_is_raised_once_by_synchronize",
        "What went wrong is raised by the next wait for the stream.",
    ),
    Mutant(
        "src/tileproof/runtime/stream/streams.py",
        "place = len(stack) - 1 - stack[::-1].index(member)",
        "place = stack.index(member)",
        "tests/runtime/launch/test_launch_premises.py::test_the_end_of_a_block_takes_away_its_own_entry",
        "The end of a `with` block takes away its own entry, the last.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/premises.py",
        "        if tensor.name not in proved.premises or tensor.access is Access.OUT or tensor.name in done:",
        "        if tensor.name not in proved.premises or tensor.access is not Access.IN or tensor.name in done:",
        "tests/runtime/launch/test_launch_premises.py::test_a_premise_of_anyones_is_read_from_a_copy[advanced]",
        "A premise that is read and written is copied, too.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/premises.py",
        (
            "            if not own.block.is_shared:\n"
            "                bound.guards.append((own.block, version))\n"
            "                continue"
        ),
        "            if True:\n                bound.guards.append((own.block, version))\n                continue",
        "tests/runtime/launch/test_launch_premises.py::test_a_premise_that_was_handed_out_is_read_from_a_copy",
        "A premise that others can write is copied.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/premises.py",
        (
            "            if not own.block.is_shared:\n"
            "                bound.guards.append((own.block, version))\n"
            "                continue"
        ),
        "            if not own.block.is_shared:\n                continue",
        "tests/runtime/launch/test_launch_premises.py::test_a_premise_that_nobody_else_can_write_stays_and_is_a_guard",
        "A premise that stays in place becomes a guard.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/premises.py",
        "            bound.tensors[tensor.name] = copy.private\n",
        "",
        "tests/runtime/launch/test_launch_premises.py::test_a_premise_that_was_handed_out_is_read_from_a_copy",
        "The kernel reads the copy of a premise.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/premises.py",
        (
            "        elif copy.is_back and not np.array_equal(copy.private, copy.original):\n"
            "            raise Outdated\n"
        ),
        "",
        (
            "tests/runtime/launch/test_launch_premises.py::"
            "test_entries_that_were_written_since_they_were_looked_at_are_looked_at_again"
        ),
        "Entries that others wrote since they were looked at are looked at again.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/premises.py",
        "        if copy.is_back:\n            np.copyto(copy.original, copy.private)",
        "        if not copy.is_back:\n            np.copyto(copy.original, copy.private)",
        "tests/runtime/launch/test_launch_premises.py::test_what_a_kernel_writes_into_a_copy_is_brought_back",
        "What the kernel wrote into a copy is copied back.",
    ),
    Mutant(
        "src/tileproof/compiler/proofs.py",
        "            if isinstance(member, type) and member.__module__ == module:\n                return member",
        "            return member",
        "tests/runtime/launch/test_launch_premises.py::test_a_kept_proof_makes_nothing_but_what_is_tileproofs",
        "A kept proof makes no objects but tileproof's own classes.",
    ),
    Mutant(
        "src/tileproof/compiler/proofs.py",
        '        if module.partition(".")[0] == "tileproof" and "." not in name:',
        '        if "." not in name:',
        "tests/runtime/launch/test_launch_premises.py::test_a_kept_proof_makes_nothing_but_what_is_tileproofs",
        "A kept proof makes no objects of other packages.",
    ),
    Mutant(
        "src/tileproof/compiler/proofs.py",
        "tuple((name, dtype.name) for name, dtype in specialization.dtypes), specialization.constants,",
        "tuple((name, dtype.name) for name, dtype in specialization.dtypes),",
        "tests/runtime/launch/test_launch_cache.py::test_arguments_by_position_and_by_name[in Python]",
        "A proof is for the constants that it was made with.",
    ),
    Mutant(
        "src/tileproof/compiler/proofs.py",
        'return digest("proof of", first, names, *(_key_part(capture.value, files) for capture in captures))',
        'return digest("proof of", first, names)',
        "tests/runtime/launch/test_launch_cache.py::test_helpers_that_change[in Python]",
        "A proof is for the values that the kernel captured.",
    ),
    Mutant(
        "src/tileproof/compiler/proofs.py",
        "if not any(_code(other) == _code(code) for other in _functions_in(whole) if other.co_firstlineno == first):",
        "if False:",
        "tests/compiler/test_proofs.py::test_a_helper_edited_on_disk_after_its_import[False]",
        "A helper whose file changed since has no key.",
    ),
    Mutant(
        "src/tileproof/compiler/proofs.py",
        'return ("function", files.index(file), first, text, defaults)',
        'return ("function", files.index(file), first, text)',
        "tests/runtime/launch/test_launch_cache.py::test_helpers_that_change[in Python]",
        "A helper's defaults are part of the key of a proof.",
    ),
    Mutant(
        "src/tileproof/compiler/cache.py",
        "    if size < 0 or _of_others(status):\n        return None",
        "    if size < 0:\n        return None",
        "tests/compiler/test_cache.py::test_a_file_that_others_may_write_to_is_a_miss",
        "An entry of the cache that others may write is not loaded.",
    ),
    Mutant(
        "src/tileproof/compiler/cache.py",
        "    if header != _header(key, data):\n        return None\n",
        "",
        "tests/compiler/test_cache.py::test_a_flip_of_any_bit_is_a_miss_and_the_file_goes",
        "An entry of the cache whose bytes changed is a miss.",
    ),
    Mutant(
        "src/tileproof/compiler/cache.py",
        "(_MAGIC, _FORMAT, bytes.fromhex(key), size):",
        "(_MAGIC, _FORMAT, bytes.fromhex(key), size) and size < 0:",
        "tests/compiler/test_cache.py::test_a_file_of_any_length_is_not_read_before_its_header_is_right",
        "An entry of the cache under another's name is a miss.",
    ),
    Mutant(
        "src/tileproof/compiler/cache.py",
        "        os.replace(draft, path)\n    except",
        "        os.link(draft, path)\n    except",
        "tests/compiler/test_cache_processes.py::test_a_writer_killed_before_the_rename_changes_nothing",
        "An entry of the cache is renamed into its place.",
    ),
    Mutant(
        "src/tileproof/compiler/cache.py",
        "return status.st_uid != os.geteuid() or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))",
        "return status.st_uid != os.geteuid() or bool(status.st_mode & stat.S_IWOTH)",
        "tests/compiler/test_cache.py::test_a_folder_that_others_may_write_to_is_refused[0o720]",
        "A folder that a group may write is not used.",
    ),
    Mutant(
        "src/tileproof/compiler/cache.py",
        "sorted(_entries(self._files()), key=lambda entry: entry.used)",
        "sorted(_entries(self._files()), key=lambda entry: -entry.used)",
        "tests/compiler/test_cache.py::test_a_hit_counts_as_a_use",
        "What was not used for longest is evicted first.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/contents.py",
        "is_within = self.least >= -1 and self.greatest < wanted.extent",
        "is_within = self.least >= -1 and self.greatest <= wanted.extent",
        "tests/runtime/launch/test_launch_cache.py::test_index_tensors_whose_contents_change[in Python]",
        "An entry of an index tensor is less than the extent.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/contents.py",
        "is_within = self.least >= -1 and self.greatest < wanted.extent",
        "is_within = self.greatest < wanted.extent",
        "tests/runtime/launch/test_launch_cache.py::test_index_tensors_whose_contents_change[in Python]",
        "An entry of an index tensor is not below -1.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/contents.py",
        "return self.is_monotone and self.first == 0 and wanted.is_end(self.last)",
        "return self.is_monotone and wanted.is_end(self.last)",
        "tests/runtime/memory/test_content_facts.py::test_borders_are_as_wanted_if_they_rise_from_zero_to_the_extent",
        "Borders begin at 0.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/contents.py",
        "measured = known.get(key) if at == version else None",
        "measured = known.get(key)",
        "tests/runtime/memory/test_content_facts.py::test_what_was_measured_in_an_older_version_is_not_kept",
        "What was measured before a write counts no more.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/contents.py",
        "    return not bool((positions[1:] == positions[:-1]).any())",
        "    return not bool((positions[1:] == positions[:-1]).all())",
        "tests/runtime/memory/test_content_facts.py::test_many_entries_are_measured_as_few_are",
        "No position is there twice in a Unique tensor.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/contents.py",
        "self.is_unique if self.rows == wanted.rows else None",
        "self.is_unique",
        "tests/runtime/memory/test_content_facts.py::test_what_differs_in_rows_need_not_in_all",
        "What was measured in rows says nothing of the whole tensor.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/contents.py",
        "np.arange(entries.size) // (entries.size // rows)",
        "np.arange(entries.size) // rows",
        "tests/runtime/launch/test_index_kernels.py::test_a_copy_of_rows_has_no_position_twice_in_a_row",
        "No position is there twice in a row.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/index_kernels.py",
        "return places // row * extent + entries",
        "return entries",
        "tests/runtime/launch/test_index_kernels.py::test_a_copy_of_rows_has_no_position_twice_in_a_row",
        "Rows that hold one position each keep it.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/contracts.py",
        "wrong | ((entries >= 0) & (other != np.arange(entries.size)))",
        "wrong | ((entries > 0) & (other != np.arange(entries.size)))",
        "tests/runtime/launch/test_launch_premises.py::test_no_position_is_twice_in_a_unique_tensor_not_even_the_first",
        "Position 0 is not there twice in a Unique tensor.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/contracts.py",
        "tensor.name not in read_through and tensor.name not in complete\n",
        "tensor.name not in read_through\n",
        (
            "tests/runtime/memory/test_content_facts.py::"
            "test_a_remembered_fault_is_named_by_a_look_at_the_entries[put-index3-"
            "`to[2]` is -1 (none), and an Out is to be written through all entries]"
        ),
        "No entry is none where an Out is covered through all of them.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/contracts.py",
        "        if into < 1 or extent % into:",
        "        if into < 1:",
        "tests/runtime/launch/test_launch_cache.py::test_contracts_of_extents_and_numbers[in Python]",
        "A group divides its dimension evenly.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/owned.py",
        "        if tensor.access is not Access.IN:\n            writes.append(span)",
        "        if tensor.access is Access.OUT:\n            writes.append(span)",
        "tests/runtime/launch/test_launch_premises.py::test_what_is_read_and_written_is_leased_for_both",
        "An InOut is leased for writing, too.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/block.py",
        "        return self.account is None or bool(self.lent)",
        "        return bool(self.lent)",
        "tests/runtime/tensor/test_cuda_tensors.py::test_an_array_on_a_gpu_is_shared",
        "Memory of another library is shared.",
    ),
    Mutant(
        "src/tileproof/runtime/memory/block.py",
        "        is_first = np.concatenate(([True], starts[1:] > ends[:-1]))",
        "        is_first = np.concatenate(([True], starts[1:] > ends[:-1] + 4))",
        "tests/runtime/graph/test_graphs.py::test_elements_between_those_that_a_graph_writes_count_as_unwritten",
        "Bytes between two written runs count as unwritten.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/binding.py",
        "tensor.access is not Access.IN and isinstance(array, np.ndarray) and not array.flags.writeable:",
        "tensor.access is Access.OUT and isinstance(array, np.ndarray) and not array.flags.writeable:",
        "tests/runtime/launch/test_launch_premises.py::test_an_array_that_is_read_only_is_not_written_in_any_way",
        "A read-only array is not written.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/binding.py",
        "any(number % size for number in (address, *steps)):",
        "any(number % size for number in (address,)):",
        "tests/runtime/memory/test_aliasing.py::test_elements_at_odd_places_are_refused[an odd stride-written]",
        "Every element lies at a multiple of its size.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/binding.py",
        "            case Named(name=name) if bound.dimensions.setdefault(name, extent) != extent:",
        "            case Named(name=name) if bound.dimensions.setdefault(name, extent) < extent:",
        "tests/runtime/launch/test_launch_cache.py::test_arrays_of_other_kinds[in Python]",
        "One name is one extent, across all arguments.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/binding.py",
        "            case Fixed(extent=wanted) if wanted != extent:",
        "            case Fixed(extent=wanted) if wanted > extent:",
        "tests/runtime/launch/test_launch_premises.py::test_an_axis_with_a_number_has_that_many_elements[5]",
        "An axis with a number has that many elements.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/binding.py",
        "if isinstance(value, float) or not least <= value <= most:",
        "if isinstance(value, float) or not least <= value:",
        "tests/runtime/launch/test_launch_cache.py::test_numbers_that_may_not_fit[in Python-128-float inf]",
        "A scalar fits its element type.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/binding.py",
        "if constant.name in named and _constant_value(signature, constant, named) != extent:",
        "if constant.name in named and _constant_value(signature, constant, named) > extent:",
        (
            "tests/runtime/launch/test_wrong_launches.py::"
            "test_a_wrong_launch_is_refused_by_name_and_touches_nothing[a dimension with another extent]"
        ),
        "A constant that is a dimension is that of the arguments.",
    ),
    Mutant(
        "src/tileproof/runtime/tensor/host_access.py",
        "            if not limits.min <= extreme <= limits.max:",
        "            if not extreme <= limits.max:",
        "tests/runtime/tensor/test_tensors.py::test_values_that_do_not_fit_are_refused",
        "A number that does not fit its element is refused, not wrapped around.",
    ),
    Mutant(
        "src/tileproof/runtime/graph/graphs.py",
        "inputs += [span for span in entry.work.reads if not written.has(np.array([span]))]",
        "inputs += []",
        "tests/runtime/graph/test_graphs.py::test_a_replay_is_in_flight_like_a_launch",
        "A replay takes leases of what it reads.",
    ),
    Mutant(
        "src/tileproof/runtime/graph/graphs.py",
        "        for block in graph._premises.trusted if may_be_lent else graph._blocks:",
        "        for block in graph._premises.trusted:",
        "tests/runtime/graph/test_graphs.py::test_memory_that_is_handed_out_while_a_replay_begins_is_waited_for",
        "A replay on memory that others can reach is done when the call returns.",
    ),
    Mutant(
        "src/tileproof/runtime/graph/cpu_graphs.py",
        "                tested.extend(zeros_of(address, nbytes // (8 * WORDS), WORDS))",
        "                pass",
        "tests/runtime/graph/test_graphs.py::test_a_replay_on_memory_of_others_raises_what_its_checks_found[taken]",
        "A replay that the host waits for reports invalid entries of index tensors.",
    ),
    Mutant(
        "src/tileproof/runtime/graph/cpu_graphs.py",
        "self.has_checks = bool(self._checked or self._called or watches)",
        "self.has_checks = bool(self._called or watches)",
        "tests/runtime/graph/test_graphs.py::test_every_replay_in_flight_tells_of_its_own_checks",
        "A replay reports the failed checks of its kernels.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/cpu_launches.py",
        "    if _ledger.poisoned and any(map(_ledger.poison_in, reads)):\n        return False\n",
        "",
        "tests/runtime/memory/test_poison.py::test_what_is_spoiled_does_not_hold_up_other_launches",
        "A repeated launch that would read what failed work wrote is refused.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/cpu_launches.py",
        "cleared = [tensor for tensor in loaded.combined if not tensor.type.keeps]",
        "cleared = loaded.combined",
        "tests/runtime/graph/test_graph_steps.py::test_totals_that_are_kept_go_on_at_every_replay",
        "Replays do not clear what is kept.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/owned.py",
        "        if tensor.is_read:\n            if not own.is_initialised:",
        "        if tensor.access.reads:\n            if not own.is_initialised:",
        "tests/language/test_rules_signatures.py::test_what_keeps_was_written_before",
        "What a sum starts from was written before.",
    ),
]
