"""Mutants of `backends/cpu`: masks, checks, conversions, reductions, launches in parts."""

from __future__ import annotations

from .mutant import Mutant

CPU = [
    Mutant(
        "src/tileproof/backends/cpu/codegen/elements.py",
        "    offset = target.rank - operand.rank\n",
        "    offset = 0\n",
        "tests/backends/cpu/test_agreement.py::test_movement_walks_branches_and_combiners[segments]",
        "A tile is broadcast along its last axes.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/elements.py",
        "            exists = s.e.op(f\"icmp slt {vector('i64', spot.lanes)} {{}}, {{}}\", here, limit)",
        "            exists = s.e.op(f\"icmp sle {vector('i64', spot.lanes)} {{}}, {{}}\", here, limit)",
        "tests/backends/cpu/test_agreement.py::test_movement_walks_branches_and_combiners[shifted]",
        "A fill begins right after the last element that exists.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/elements.py",
        'one = s.e.op("icmp slt i64 {}, {}", coord, live)',
        'one = s.e.op("icmp sle i64 {}, {}", coord, live)',
        "tests/backends/cpu/test_agreement.py::test_movement_walks_branches_and_combiners[shifted]",
        "A row past the last one is filled.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/elements.py",
        "        if _is_inside(s, pick, op.tensor, axis):\n            continue",
        "        continue",
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus_at_random_shapes[im2col]",
        "A get tests each index that is not inside by construction.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/elements.py",
        'inside = s.e.op(f"icmp ult {lanes} {{}}, {{}}"',
        'inside = s.e.op(f"icmp slt {lanes} {{}}, {{}}"',
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus[filled_neighbours]",
        "A get fills at negative positions, in every lane.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/elements.py",
        's.e.op("icmp ult i64 {}, {}", position.sum(s), view.extents[axis])',
        's.e.op("icmp ule i64 {}, {}", position.sum(s), view.extents[axis])',
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus_at_random_shapes[im2col]",
        "A get fills at the position past the last.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/elements.py",
        "    return select(s.e, condition, read, fill, op.result.type.dtype, spot.lanes)",
        "    return read",
        "tests/backends/cpu/test_agreement.py::test_movement_walks_branches_and_combiners[get]",
        "A get gives its fill outside.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/elements.py",
        "                positions.append(Position(str(number(start)), coord, lanes=lanes))",
        "                positions.append(Position(coord, lanes=lanes))",
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus_at_random_shapes[part_of_a_row]",
        "A load of a constant slice begins where the slice does.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/elements.py",
        '        if positions[axis].lanes == "run" and view.strides[axis] == "1":',
        '        if positions[axis].lanes == "run":',
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus_at_random_shapes[part_of_a_row]",
        "Only elements that are neighbours in memory are read as a vector.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/elements.py",
        (
            "        case ops.Binary(fn=ops.BinaryFn.SUB, left=left, right=right):\n"
            "            return is_run(s, left) and is_same(s, right)"
        ),
        (
            "        case ops.Binary(fn=ops.BinaryFn.SUB, left=left, right=right):\n"
            "            return is_same(s, left) and is_run(s, right)"
        ),
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus_at_random_shapes[mirrored_lanes]",
        "Positions that count down are no run.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/stores.py",
        "    if op.guard is None:",
        "    if op.guard is None or True:",
        (
            "tests/lowering/test_residual_checks.py::test_a_failed_check_names_the_kernel_the_line_the_index_and"
            "_the_bound[counted_5-cpu]"
        ),
        "A store whose check failed writes nothing.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/stores.py",
        '        s.e.each("0", s.live(self.op.value.type.axes[here]), 1, turn)',
        '        s.e.each("0", str(number(self.op.value.type.axes[here].length)), 1, turn)',
        "tests/backends/cpu/test_short_tiles.py::test_what_lies_behind_a_short_tile_is_not_written",
        "A short tile stores the rows that it has, and no more.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/stores.py",
        "            nests.run(s, s.live(axis), step)",
        "            nests.run(s, str(number(axis.length)), step)",
        "tests/backends/cpu/test_short_tiles.py::test_what_lies_behind_a_short_tile_is_not_written",
        "A short tile stores the elements that it has, and no more.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/stores.py",
        "ops.COMBINED_BY[self.op.tensor.type.access], old, value",
        "ops.COMBINED_BY[self.op.tensor.type.access], value, value",
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus[folded_sums]",
        "An update keeps what the tensor held.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/checks.py",
        '    wrong = s.e.op(f"or {truths} {{}}, {{}}", below, above)',
        "    wrong = above",
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus_at_random_shapes[append_by_request]",
        "An index below its bound fails its check.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/checks.py",
        '    return wrong if spot.mask is None else s.e.op(f"and {truths} {{}}, {{}}", wrong, spot.mask)',
        "    return wrong",
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus[append_tile]",
        "Lanes that do not exist fail no check.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/typed_lanes.py",
        "        return self.apply(BinaryFn.ADD, quotient, by_one)",
        "        return quotient",
        "tests/backends/cpu/test_arithmetic.py::test_operands_written_in_the_program[index-floordiv]",
        "Whole numbers are divided downward.",
    ),
    Mutant(
        "src/tileproof/backends/integers.py",
        "    return n.select(is_zero, x, n.remainder(x, safe))",
        "    return n.remainder(x, safe)",
        "tests/backends/cpu/test_arithmetic.py::test_operands_written_in_the_program[u8-mod]",
        "The remainder of a division by 0 is the number itself.",
    ),
    Mutant(
        "src/tileproof/backends/integers.py",
        "    is_short = n.compare(BinaryFn.LT, y, n.constant(bits), signed=False)",
        "    is_short = n.compare(BinaryFn.LE, y, n.constant(bits), signed=False)",
        "tests/backends/cpu/test_arithmetic.py::test_operands_written_in_the_program[u8-shl]",
        "A shift by the width gives 0.",
    ),
    Mutant(
        "src/tileproof/backends/integers.py",
        "n.apply(BinaryFn.MIN, y, longest, signed=False)",
        "n.apply(BinaryFn.AND, y, longest)",
        "tests/backends/cpu/test_arithmetic.py::test_operands_written_in_the_program[index-shr]",
        "A shift of a negative number to the right by much gives -1.",
    ),
    Mutant(
        "src/tileproof/backends/integers.py",
        "n.apply(BinaryFn.SHR, x, n.constant(known.bit_length() - 1))",
        "n.apply(BinaryFn.SHR, x, n.constant(known.bit_length() - 1), signed=False)",
        "tests/backends/cpu/test_arithmetic.py::test_operands_written_in_the_program[index-floordiv]",
        "A negative number divided by a power of two is negative.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/conversions.py",
        (
            '    odd = e.op(f"zext {f.logic} {{}} to {f.integer}", d.test("une", back, x))\n'
            '    return f.real(f.whole_op("or", f.whole_op("add", f.bits(nearest), less), odd))'
        ),
        "    return nearest",
        "tests/backends/cpu/test_conversions.py::test_long_integers_are_rounded_once",
        "f64 is rounded once to a narrow float.",
    ),
    Mutant(
        "src/tileproof/backends/integers.py",
        "n.apply(BinaryFn.ADD, almost, last), n.constant(-(2**dropped))",
        "almost, n.constant(-(2**dropped))",
        "tests/backends/cpu/test_conversions.py::test_casts_to_all_types[i16]",
        "bf16 is rounded to nearest even.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/conversions.py",
        '    size = f.select(f.test("olt", largest, size), largest, size)\n',
        "",
        "tests/backends/cpu/test_conversions.py::test_casts_to_all_types[i16]",
        "8-bit floats saturate.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/conversions.py",
        '    number = f.select(f.test("ord", x, f.number(0)), x, f.number(0))',
        "    number = x",
        "tests/backends/cpu/test_agreement.py::test_an_operation_on_elements[cast_f32_1]",
        "NaN becomes the whole number 0.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/conversions.py",
        "    if not rounds:\n        return result",
        "    if True:\n        return result",
        "tests/backends/cpu/test_agreement.py::test_an_operation_on_elements[cast_f32_1]",
        "A float beyond the largest whole number becomes the largest.",
    ),
    Mutant(
        "src/tileproof/backends/integers.py",
        "    if greatest < high:\n",
        "    if False:\n",
        "tests/backends/cpu/test_conversions.py::test_casts_to_all_types[i16]",
        "A whole number that is too large for its new type becomes the largest.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/reductions.py",
        '            better = s.e.op("or i1 {}, {}", better, new_nan)',
        "            pass",
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus[argmax]",
        "argmax finds the first NaN.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/reductions.py",
        "(spot.lane >= axis)\n            coords = (*spot.coords[:axis], here",
        "(spot.lane > axis)\n            coords = (*spot.coords[:axis], here",
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus[column_sums]",
        "Columns are reduced along the reduced axis.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/reductions.py",
        '        first = s.e.op("icmp eq i64 {}, 0", here)\n',
        '        first = "false"\n',
        "tests/backends/cpu/test_agreement.py::test_an_operation_along_an_axis[reduce_u8_axis1]",
        "argmax begins with the first element.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/device/split_launch.py",
        "    for part in parts[1:]:\n",
        "    for part in parts[2:]:\n",
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus[folded_sums]",
        "The copies of all shares are combined.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/device/split_launch.py",
        "            array.fill(identity[()])\n",
        "",
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus_at_random_shapes[histogram]",
        "A tensor that is combined into is reset before each launch.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/device/loaded_code.py",
        "(name, size) for name, size in self.walks if dimensions[name] and dimensions[name] % size == 0",
        "(name, size) for name, size in self.walks if dimensions[name] and dimensions[name] % size != 1",
        "tests/backends/cpu/test_short_tiles.py::test_what_lies_behind_a_short_tile_is_not_written",
        "No tile is taken to be full unless tiles divide the extent.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/device/loaded_code.py",
        "            unit.append(tuple(step == array.itemsize for step in steps))",
        "            unit.append(tuple(step != 0 for step in steps))",
        "tests/backends/cpu/test_agreement.py::test_an_operation_on_elements[bits_i16_1]",
        "Elements are contiguous only where the strides are.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/device/loaded_code.py",
        '                values[places[tensor.name, "extent", axis]] = array.shape[axis]',
        '                values[places[tensor.name, "extent", axis]] = array.shape[0]',
        "tests/backends/cpu/test_short_tiles.py::test_a_get_is_tested_against_each_axis_without_a_name",
        "Programs get the extent of each axis.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/lanes.py",
        'halves = scalars.op("and", "%seed", str(_LOW)), scalars.op("lshr", "%seed", "32")',
        'halves = scalars.op("and", "%seed", str(_LOW)), scalars.op("and", "%seed", str(_LOW))',
        "tests/backends/cpu/test_agreement.py::test_a_safe_kernel_of_the_corpus[cubed_places]",
        "All bits of a seed count.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/codegen/elements.py",
        '        here = replace(here, when=both(s, here.when, s.e.op("icmp ult i64 {}, {}", place, live), 1))',
        "        pass",
        "tests/language/test_rules_tiles.py::test_a_place_of_a_tile_is_that_of_a_live_element",
        "A place that a tile does not have touches no memory.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/device/split_launch.py",
        "            copies[0] = array",
        "            pass",
        "tests/language/test_rules_signatures.py::test_with_keep_they_start_from_what_they_hold",
        "Copies of what is kept start from what it holds, one of them.",
    ),
    Mutant(
        "src/tileproof/backends/cpu/device/split_launch.py",
        "            if not tensor.type.keeps:\n                array.fill(identity[()])",
        "            array.fill(identity[()])",
        "tests/language/test_rules_signatures.py::test_what_keeps_was_written_before",
        "A launch does not clear what is kept.",
    ),
]
