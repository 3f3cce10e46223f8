"""Mutants of `backends/cuda`: views and masks, the order of accesses, facts of a launch, the assembler."""

from __future__ import annotations

from .mutant import Mutant

CUDA = [
    Mutant(
        "src/tileproof/backends/cuda/codegen/loads.py",
        "axis=Axis(count), is_inside=lanes == count)",
        "axis=Axis(count), is_inside=True)",
        "tests/backends/cuda/test_whole_kernels.py::test_a_safe_kernel_of_the_corpus[part_of_a_row]",
        "Padding of a constant slice is not written.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/loads.py",
        "    if where.shape and view.is_plain and where.is_boxed and _starts_inside(s, view, op.picks) and is_alone:",
        "    if where.shape and where.is_boxed and _starts_inside(s, view, op.picks) and is_alone:",
        (
            "tests/backends/cuda/test_corner_launches.py::"
            "test_the_one_piece_of_an_empty_axis_may_begin_at_the_end_of_a_tensor[3-0]"
        ),
        "A tensor with negative strides or an empty axis is not read through a view.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/loads.py",
        "        mask = both(s, mask, _inside(s, where, place, pick, view.extents[place]))",
        "        mask = both(s, mask, _inside(s, where, place, pick, view.extents[0]))",
        "tests/backends/cuda/test_corner_launches.py::test_nothing_is_read_of_a_part_without_elements[4]",
        "A get tests an index against the extent of its own axis.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/loads.py",
        "        mask = both(s, mask, _inside(s, where, place, pick, view.extents[place]))",
        "        pass",
        "tests/backends/cuda/test_corner_launches.py::test_nothing_is_read_of_a_part_without_elements[4]",
        "A get reads nothing outside.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/loads.py",
        "        is_there = both(s, is_there, b.andi(low, high))",
        "        is_there = both(s, is_there, high)",
        "tests/backends/cuda/test_goldens.py::test_the_bytecode_of_an_example_is_what_it_was[qkv]",
        "A get of a whole tile gives its fill at a negative position.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/loads.py",
        "            if may_be_empty or not s.places[pick.walker].is_inside:",
        "            if may_be_empty:",
        "tests/backends/cuda/test_whole_kernels.py::test_a_safe_kernel_of_the_corpus[moved_store_in_place]",
        "A walker that was moved may begin at the end, where a view has no tile.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/loads.py",
        "        stride == 1 and not pick.is_inside and extent.divisor * size % _QUANTUM",
        "        stride == 1 and not pick.is_inside and extent.divisor % _QUANTUM",
        "tests/backends/cuda/codegen/test_ragged_ends.py::test_an_end_at_a_multiple_of_16_bytes_is_stored_whole[12]",
        "What ends with its tensor is stored whole where the copy engine can do that only.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/loads.py",
        "return [True] * len(where.picks) if is_inside and s.version >= (13, 4) else None",
        "return [True] * len(where.picks) if s.version >= (13, 4) else None",
        (
            "tests/backends/cuda/test_assembled_kernels.py::"
            "test_the_bytecode_of_a_safe_kernel_comes_back_as_it_went_in[helper_stores]"
        ),
        "An access that may be outside is not said to be inside.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/loads.py",
        "        if pick.is_entry and pick.indices is None:\n            there",
        "        if pick.is_entry and pick.indices is None and False:\n            there",
        "tests/backends/cuda/test_corner_launches.py::test_none_behind_a_cut_is_not_the_element_before_it",
        "An access at none does nothing.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/loads.py",
        "s.along(s.b.cmpi(Predicate.LESS, line, live, signed=True), shape, axis))",
        "s.along(s.b.cmpi(Predicate.LESS_EQUAL, line, live, signed=True), shape, axis))",
        (
            "tests/backends/cuda/test_corner_launches.py::"
            "test_indices_are_compared_whose_distance_does_not_fit_64_bits[2305843009213693952-0]"
        ),
        "Lanes past the last live one are masked.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/loads.py",
        "            moved = positions.plus(s.b, picked.start, origin)",
        "            moved = picked.start",
        (
            "tests/backends/cuda/test_corner_launches.py::"
            "test_the_one_piece_of_an_empty_axis_may_begin_at_the_end_of_a_tensor[3-5]"
        ),
        "A part of a tensor begins at the cut.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/stores.py",
        "    if op.guard is None:\n        write()",
        "    if True:\n        write()",
        "tests/backends/cuda/test_zero_cost_proofs.py::test_a_check_of_a_product_holds_back_its_store_and_nothing_else",
        "A store whose check failed writes nothing.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/stores.py",
        "done = s.b.store_ptr(pointers(s, view, where), value, mask=mask, token=token)",
        "done = s.b.store_ptr(pointers(s, view, where), value, mask=None, token=token)",
        (
            "tests/backends/cuda/test_corner_launches.py::"
            "test_indices_are_compared_whose_distance_does_not_fit_64_bits[2305843009213693952-0]"
        ),
        "A scattered store is masked.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/stores.py",
        "    if not of.access.combines or dtype.bits >= 32:",
        "    if not of.access.combines or dtype.bits >= 16:",
        "tests/backends/cuda/codegen/test_atomics.py::test_what_is_narrower_than_32_bits_is_combined_elsewhere",
        "A type too narrow for atomic operations is combined in a wider one.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/stores.py",
        "    bits = b.select(is_nan, s.splat(of, shape, nan), bits)\n",
        "",
        "tests/backends/cuda/codegen/test_atomics.py::test_nan_of_either_sign_wins[2147483648]",
        "A Max and a Min propagate NaN.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/checks.py",
        "over = b.cmpi(Predicate.GREATER_EQUAL, index, s.spread(high, shape), signed=signed)",
        "over = b.cmpi(Predicate.GREATER, index, s.spread(high, shape), signed=signed)",
        "tests/backends/cuda/test_corner_launches.py::test_two_guarded_stores_share_a_tile_of_indices[8]",
        "The index past the last fails its check.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/checks.py",
        "    wrong = b.ori(under, over)",
        "    wrong = over",
        "tests/backends/cuda/test_goldens.py::test_the_bytecode_of_an_example_is_what_it_was[kv_append]",
        "An index below its bound fails its check.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/checks.py",
        "    if live is not None:\n        wrong = b.andi(wrong, live)\n",
        "",
        "tests/backends/cuda/test_goldens.py::test_the_bytecode_of_an_example_is_what_it_was[append_attention]",
        "Lanes that do not exist fail no check.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/checks.py",
        "    s.put(op.result, b.andi(before, _negated(s, failed)))",
        "    s.put(op.result, _negated(s, failed))",
        "tests/backends/cuda/test_goldens.py::test_the_bytecode_of_an_example_is_what_it_was[kv_append]",
        "What failed before stays failed.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/layout_specialization.py",
        "min(-(-reach // _VECTOR) * _VECTOR, _APART)",
        "1",
        "tests/backends/cuda/test_corner_launches.py::test_the_step_of_an_axis_of_one_element_fits_32_bits",
        "The stride of an axis of one element is none that promises too much.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/layout_specialization.py",
        "all(extent > 0 for extent in shape) and all(step > 0 for step in steps)",
        "all(extent > 0 for extent in shape)",
        (
            "tests/backends/cuda/codegen/test_layout_specialization.py::"
            "test_only_a_tensor_with_elements_whose_strides_go_forward_is_plain"
        ),
        "A tensor with negative strides is not plain.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/layout_specialization.py",
        "if dimensions[name] and dimensions[name] % size == 0),",
        "if dimensions[name] % size == 0),",
        (
            "tests/backends/cuda/test_corner_launches.py::"
            "test_the_one_piece_of_an_empty_axis_may_begin_at_the_end_of_a_tensor[3-0]"
        ),
        "An empty dimension is divided by no tile.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/layout_specialization.py",
        "(name, _power(dimensions[name] or 1, _VECTOR))",
        "(name, _power(dimensions[name], _VECTOR))",
        (
            "tests/backends/cuda/test_corner_launches.py::"
            "test_the_one_piece_of_an_empty_axis_may_begin_at_the_end_of_a_tensor[3-0]"
        ),
        "An empty dimension is no multiple.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/layout_specialization.py",
        "        far >= _FAR,",
        "        far > 2**31,",
        (
            "tests/backends/cuda/codegen/test_layout_specialization.py::"
            "test_positions_are_counted_in_32_bits_while_a_tile_behind_them_fits"
        ),
        "Positions that need more than 32 bits are counted in 64.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        "        return self._joined([*([] if chain.store is None else [chain.store]), *chain.since])",
        "        return chain.store",
        "tests/backends/cuda/codegen/test_memory_order.py::test_a_store_waits_for_the_load_before_it",
        "A store waits for the reads before it.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        "        return self._chain(root).store\n",
        "        return self.wait\n",
        "tests/backends/cuda/test_corner_launches.py::test_a_program_that_is_alone_reads_what_it_wrote_before_the_cut",
        "A load waits for the store before it.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        "            tokens += [store, self._joined([store, *chain.since]) or store]",
        "            tokens += [store, store]",
        "tests/backends/cuda/test_whole_kernels.py::test_a_safe_kernel_of_the_corpus[softmax_in_place]",
        "A region is handed the reads before it.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        "            return None if tensor in self.frozen else self.wait",
        "            return None",
        (
            "tests/backends/cuda/codegen/test_dependent_accesses.py::"
            "test_nothing_but_frozen_tensors_is_touched_before_the_wait[add]"
        ),
        "A load of what the kernel ahead may write waits for it.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        (
            "                if not any(isinstance(earlier, ops.Store) for earlier, _ in "
            "sites.get(belongs[tensor], ())):\n"
            "                    free.add(past)"
        ),
        "                free.add(past)",
        "tests/backends/cuda/test_corner_launches.py::test_a_program_that_is_alone_reads_what_it_wrote_before_the_cut",
        "A read after a cut waits for the writes before the cut.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        "    if len(sites) > 1:\n        return True\n",
        "    if len(sites) > 2:\n        return True\n",
        "tests/backends/cuda/test_corner_launches.py::test_what_is_outside_is_not_read_inside_where_others_write",
        "A load and a store of one tensor are ordered.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        "            case ops.Along(walker) if walker is moving:\n                return True",
        "            case ops.Along(walker):\n                return True",
        (
            "tests/backends/cuda/codegen/test_memory_order.py::"
            "test_a_loop_that_stores_at_one_place_in_each_turn_is_ordered"
        ),
        "A store at another loop's walker comes back to its place.",
    ),
    Mutant(
        "src/tileproof/backends/integers.py",
        "    return n.select(is_zero, n.constant(0), quotient)",
        "    return quotient",
        "tests/backends/cuda/codegen/test_cuda_arithmetic.py::test_two_operands[index?]",
        "A whole number divided by 0 is 0.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/tiles.py",
        "Rounding.DOWN if signed else Rounding.ZERO",
        "Rounding.ZERO",
        "tests/backends/cuda/codegen/test_cuda_arithmetic.py::test_two_operands[index?]",
        "Whole numbers are divided downward.",
    ),
    Mutant(
        "src/tileproof/backends/integers.py",
        "    return n.select(is_short, n.apply(fn, x, n.apply(BinaryFn.AND, y, longest)), n.constant(0))",
        "    return n.apply(fn, x, n.apply(BinaryFn.AND, y, longest))",
        "tests/backends/cuda/codegen/test_cuda_arithmetic.py::test_operands_written_in_the_program[i8-shl]",
        "A shift by the width gives 0.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        "is_free = op.tensor in frozen and size <= min(most, room)",
        "is_free = size <= min(most, room)",
        (
            "tests/backends/cuda/codegen/test_dependent_accesses.py::"
            "test_what_is_frozen_stands_before_the_wait_and_behind_it_for_later_programs[frozen1]"
        ),
        "Only frozen tensors are read before the wait.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        "is_free = op.tensor in frozen and size <= min(most, room)",
        "is_free = op.tensor in frozen and size <= most",
        "tests/backends/cuda/codegen/test_dependent_accesses.py::test_no_more_is_read_early_than_registers_hold[256-0]",
        "What is read before the wait fits the registers.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        "        if is_free and not behind.intersection(ops.operands(op)):",
        "        if is_free:",
        "tests/backends/cuda/codegen/test_dependent_accesses.py::test_a_position_that_was_read_early_is_read_at_early",
        "A read that depends on the previous kernel comes after the wait.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        '        assert is_frozen, f"{op.name} of {self.name} may happen before the wait"',
        "        return",
        (
            "tests/backends/cuda/codegen/test_dependent_accesses.py::"
            "test_what_is_frozen_stands_before_the_wait_and_behind_it_for_later_programs[frozen1]"
        ),
        "The verifier finds an access before the wait.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        "        is_frozen = op.name in _LOADS and op.operands[0] in self.frozen",
        "        is_frozen = op.operands[0] in self.frozen",
        "tests/backends/cuda/codegen/test_dependent_accesses.py::test_a_store_to_a_frozen_tensor_is_not_let_through",
        "The verifier finds a write to a frozen tensor before the wait.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/memory_order.py",
        "            self._mark(op.results, [all(each) for each in both])",
        "            self._mark(op.results, [any(each) for each in both])",
        (
            "tests/backends/cuda/codegen/test_dependent_accesses.py::"
            "test_a_token_that_one_path_loses_is_behind_nothing[if-False]"
        ),
        "A token comes after the wait only if it does in both branches.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/combined_tensors.py",
        "inside = b.cmpi(Predicate.LESS, here,",
        "inside = b.cmpi(Predicate.LESS_EQUAL, here,",
        (
            "tests/backends/cuda/codegen/test_dependent_accesses.py::"
            "test_nothing_but_frozen_tensors_is_touched_before_the_wait[histogram]"
        ),
        "The reset of a combined tensor writes nothing past its end.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/combined_tensors.py",
        "        s.b.store_ptr(places, value, mask=inside, token=s.order.wait)\n\n\ndef write_back",
        "        s.b.store_ptr(places, value, mask=None, token=s.order.wait)\n\n\ndef write_back",
        (
            "tests/backends/cuda/test_checked_index_launches.py::"
            "test_a_launch_of_a_copy_does_on_a_gpu_what_the_interpreter_does[Unique without holes in a row int32 0]"
        ),
        "The reset of a combined tensor is masked.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/wrapping_sums.py",
        "max(turns - is_inside, 0) * of_turn",
        "of_turn",
        (
            "tests/backends/cuda/codegen/test_wrapping_sums.py::"
            "test_sums_that_cannot_be_too_large_are_left_to_tensor_cores[nested int8-expected5]"
        ),
        "All turns of a loop count.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/device/loaded_code.py",
        "            return -(-max(sizes, default=0) // CHUNK)",
        "            return max(sizes, default=0) // CHUNK",
        (
            "tests/backends/cuda/test_checked_index_launches.py::"
            "test_a_launch_of_a_copy_does_on_a_gpu_what_the_interpreter_does[Unique without holes in a row int32 0]"
        ),
        "The reset covers the last elements of a combined tensor.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/parameters.py",
        "        if not layout.is_dense:\n            return None\n",
        "",
        (
            "tests/backends/cuda/codegen/test_layout_specialization.py::"
            "test_promises_hold_for_inputs_that_lie_in_any_way[bfloat16-every other element]"
        ),
        "A stride is computed only for tensors without gaps.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/indices.py",
        "    stop = positions.least(s.b, stop, extent)\n",
        "",
        "tests/backends/cuda/test_whole_kernels.py::test_a_safe_kernel_of_the_corpus[moved_store_in_place]",
        "A moved walker ends with its axis.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/indices.py",
        "    rest = positions.minus(s.b, whole.extents[axis], at)",
        "    rest = whole.extents[axis]",
        "tests/backends/cuda/test_corner_launches.py::test_what_get_finds_outside_is_counted_from_the_cut[16]",
        "The part after a cut is shorter than the whole.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/assembler/assemble.py",
        "            if ended.status:\n                raise",
        "            if ended.status > 0:\n                raise",
        (
            "tests/backends/cuda/test_assembled_kernels.py::"
            "test_a_kernel_over_which_the_assembler_crashes_is_told_in_other_words[behind]"
        ),
        "A crash of the assembler is no success.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/assembler/toolchain.py",
        "    if len(releases) > 1:",
        "    if len(releases) > 3:",
        "tests/backends/cuda/assembler/test_toolchain.py::test_parts_of_different_releases_are_refused[tileiras]",
        "Parts of different releases are refused.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/assembler/toolchain.py",
        "    if min(releases) < OLDEST:",
        "    if max(releases) < (1, 0):",
        "tests/backends/cuda/assembler/test_toolchain.py::test_an_old_release_is_refused",
        "An assembler that is too old is refused.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/assembler/toolchain.py",
        "        return min(self.release, NEWEST_BYTECODE)",
        "        return NEWEST_BYTECODE",
        (
            "tests/backends/cuda/assembler/test_toolchain.py::"
            "test_newer_releases_get_the_newest_bytecode_they_and_we_know[13.3.5-format0]"
        ),
        "The bytecode version is one that the assembler supports.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/assembler/assemble.py",
        "            os.killpg(process.pid, signal.SIGKILL)",
        "            os.kill(process.pid, signal.SIGKILL)",
        "tests/backends/cuda/assembler/test_assembler.py::test_what_a_crashed_assembler_started_is_ended",
        "What an assembler started ends with it.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/reductions.py",
        "s.b.mini(index, s.b.constant(TileOf(I64), last), signed=False)",
        "index",
        "tests/backends/cuda/codegen/test_shape_operations.py::test_a_place_that_no_tile_has_is_any_other",
        "A place that a tile does not have is brought inside.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/combined_tensors.py",
        "return not tensor.type.keeps or shadow(tensor.type) is not None",
        "return True",
        "tests/backends/cuda/codegen/test_atomics.py::test_what_is_kept_needs_nothing_before_its_programs",
        "Nothing is cleared that is to be kept.",
    ),
    Mutant(
        "src/tileproof/backends/cuda/codegen/combined_tensors.py",
        "        if tensor.type.keeps:",
        "        if False:",
        "tests/backends/cuda/codegen/test_atomics.py::test_what_keeps_starts_from_what_it_holds",
        "What is combined in a wider type starts from what the tensor holds.",
    ),
]
