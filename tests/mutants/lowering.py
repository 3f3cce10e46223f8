"""Mutants of `lowering` and `compiler`: checks at run time, products that accumulate, the list of passes."""

from __future__ import annotations

from .mutant import Mutant

LOWERING = [
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "return self.binary(ops.BinaryFn.MAX, self.binary(ops.BinaryFn.MIN, index, last), low)",
        "return self.binary(ops.BinaryFn.MIN, index, last)",
        "tests/analysis/test_attacks_on_checks.py::test_a_shift_back_from_a_failed_shift_stays_inside",
        "What is brought inside is not below the start.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "return self.binary(ops.BinaryFn.MAX, self.binary(ops.BinaryFn.MIN, index, last), low)",
        "return self.binary(ops.BinaryFn.MAX, index, low)",
        "tests/analysis/test_attacks_on_checks.py::test_a_shift_back_from_a_failed_shift_stays_inside",
        "What is brought inside is not past the end.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "        if is_program:\n            placed, ok = self._pre_checks(block, ok, done)\n",
        "",
        "tests/lowering/test_residual_checks.py::test_a_pre_check_stands_before_every_loop",
        "A pre-check stands before every loop of the program.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "            if id(op) not in done:",
        "            if True:",
        "tests/lowering/test_residual_checks.py::test_stores_behind_a_check_are_guarded_and_no_load_can_leave[follow]",
        "What a pre-check is made of is computed once.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "                    self.tested.add(id(residual))\n",
        "",
        "tests/lowering/test_residual_checks.py::test_the_text_of_checked_ir_can_be_read",
        "An index with a pre-check is not tested again in place.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        (
            "            case ops.Shift() | ops.SplitAt() | ops.Cast() | ops.Take() if id(op) in self.residuals:\n"
            "                return self._clamp(op, ok)\n"
        ),
        "",
        "tests/analysis/test_attacks_on_checks.py::test_a_wide_tile_of_rank_2_is_checked_where_it_becomes_an_index",
        "A walker, a cut and a wide number with an open obligation are brought inside.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        (
            "            case ops.Shift() | ops.SplitAt() if control or not "
            "self.tainted.isdisjoint(ops.operands(op)):\n"
            "                return self._clamp(op, ok)\n"
        ),
        "",
        "tests/analysis/test_attacks_on_checks.py::test_a_shift_back_from_a_failed_shift_stays_inside",
        "A walker moved by a tainted value is brought inside.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "            case ops.Join() if ok is not None:\n                return self._join(op, ok)\n",
        "",
        "tests/lowering/test_residual_checks.py::test_stores_behind_a_check_are_guarded_and_no_load_can_leave[joined]",
        "What follows a join stores only if no piece failed.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "        if not self.tainted.isdisjoint(ops.operands(op)):\n            self.tainted.update(ops.results(op))",
        "        pass",
        (
            "tests/analysis/test_attacks_on_checks.py::test_a_length_between_borders_that_are_not_there"
            "_moves_nothing_outside[start_at_a_length]"
        ),
        "What is made of a tainted value is tainted.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "                ok = self._check_contents(out, op, ok)",
        "                self._check_contents(out, op, ok)",
        "tests/lowering/test_residual_checks.py::test_stores_behind_a_check_are_guarded_and_no_load_can_leave[tokens]",
        "A store whose contents failed their check stores nothing.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "                ok = self._check_contents(out, op, ok)",
        "                pass",
        "tests/lowering/test_residual_checks.py::test_stores_behind_a_check_are_guarded_and_no_load_can_leave[tokens]",
        "What is stored into an index tensor is checked where it was not proved.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "return [*out.emitted, replace(op, guard=ok)], ok",
        "return [*out.emitted, op], ok",
        "tests/lowering/test_residual_checks.py::test_stores_behind_a_check_are_guarded_and_no_load_can_leave[begun]",
        "Every store that follows a check is guarded by it.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "        is_tainted = control or self.clamps or not self.tainted.isdisjoint(ops.operands(op))",
        "        is_tainted = control or not self.tainted.isdisjoint(ops.operands(op))",
        "tests/analysis/test_attacks_on_checks.py::test_a_load_beside_a_split_stays_inside",
        "Where something is brought inside, loads that were proved by it read nothing outside.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "        self.tainted.add(op.result)\n        fill",
        "        fill",
        (
            "tests/analysis/test_attacks_on_checks.py::test_a_length_between_borders_that_are_not_there"
            "_moves_nothing_outside[start_at_a_length]"
        ),
        "What a load with a check gives is tainted.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "return out.check(ok, index, out.number(0), self._extent(out, op.tensor, axis), what, entries)",
        "return out.check(ok, index, out.number(-1), self._extent(out, op.tensor, axis), what, entries)",
        (
            "tests/lowering/test_residual_checks.py::test_a_failed_check_names_the_kernel_the_line_the_index_and"
            "_the_bound[follow_3-cpu]"
        ),
        "An index of -1 fails its check.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "return out.check(ok, index, out.number(0), self._extent(out, op.tensor, axis), what, entries)",
        "return out.check(ok, index, out.number(0), self._extent(out, op.tensor, 0), what, entries)",
        "tests/analysis/test_forced_checks.py::test_an_example_gives_the_same_with_every_bound_tested[rms_norm]",
        "An index is tested against the extent of its own axis.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "return out.check(ok, index, out.number(0), self._extent(out, op.tensor, axis), what, entries)",
        "return out.check(None, index, out.number(0), self._extent(out, op.tensor, axis), what, entries)",
        "tests/lowering/test_failed_programs.py::test_a_piece_that_failed_guards_what_follows_the_join[0]",
        "What failed before stays failed.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "return out.check(ok, op.value, out.number(-1), extent,",
        "return out.check(ok, op.value, out.number(-2), extent,",
        (
            "tests/lowering/test_residual_checks.py::test_a_failed_check_names_the_kernel_the_line_the_index_and"
            "_the_bound[tokens_12-cpu]"
        ),
        "What is stored into an index tensor is none or a position.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "            if axis != cut:\n                return",
        "            if axis == cut:\n                return",
        "tests/analysis/test_attacks_on_checks.py::test_a_check_on_a_part_stands_after_the_split",
        "A view differs from its tensor along the axis of the cut alone.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "return at if is_past else out.binary(ops.BinaryFn.SUB, self._extent(out, whole, axis), at)",
        "return at if is_past else self._extent(out, whole, axis)",
        "tests/analysis/test_attacks_on_checks.py::test_a_check_on_a_part_stands_after_the_split",
        "The part after a cut is shorter than the whole.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "return at if is_past else out.binary(ops.BinaryFn.SUB, self._extent(out, whole, axis), at)",
        "return out.binary(ops.BinaryFn.SUB, self._extent(out, whole, axis), at) if is_past else at",
        (
            "tests/analysis/test_forced_checks.py::test_a_safe_kernel_gives_the_same_with_every_bound_t"
            "ested[look_and_append]"
        ),
        "The part before a cut ends at the cut.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "moved = out.binary(ops.BinaryFn.ADD, start, by)",
        "moved = out.binary(ops.BinaryFn.SUB, start, by)",
        (
            "tests/lowering/test_residual_checks.py::test_a_failed_check_names_the_kernel_the_line_the_index_and"
            "_the_bound[moved_7-cpu]"
        ),
        "A moved walker is tested where it goes.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "                new = replace(op, by=out.binary(ops.BinaryFn.SUB, inside, start))",
        "                new = op",
        "tests/analysis/test_attacks_on_checks.py::test_a_shift_back_from_a_failed_shift_stays_inside",
        "A walker that would leave its dimension is brought inside.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "                new = replace(op, at=out.clamped(at, out.number(0), extent))",
        "                new = op",
        (
            "tests/analysis/test_attacks_on_checks.py::test_a_length_between_borders_that_are_not_there"
            "_moves_nothing_outside[split_at_a_length]"
        ),
        "A cut that would leave its axis is brought inside.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        '                ok = out.check(ok, at, out.number(0), high, f"the place',
        '                ok = out.check(ok, at, out.number(0), extent, f"the place',
        (
            "tests/lowering/test_residual_checks.py::test_a_failed_check_names_the_kernel_the_line_the_index_and"
            "_the_bound[cut_9-cpu]"
        ),
        "A tensor may be cut at its end.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "                new = replace(op, operand=out.clamped(operand, *lanes))",
        "                new = op",
        "tests/analysis/test_attacks_on_checks.py::test_a_wide_tile_of_rank_2_is_checked_where_it_becomes_an_index",
        "A wide number is brought into the range of positions.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "above = out.number(START_LIMIT + 1, dtype)",
        "above = out.number(START_LIMIT, dtype)",
        "tests/analysis/test_attacks_on_checks.py::test_a_wide_tile_of_rank_2_is_checked_where_it_becomes_an_index",
        "The largest position passes the check of wide numbers.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "        if isinstance(op, ops.TilesLoop) and op.start is not None and (",
        "        if False and isinstance(op, ops.TilesLoop) and op.start is not None and (",
        "tests/lowering/test_residual_checks.py::test_stores_behind_a_check_are_guarded_and_no_load_can_leave[begun]",
        "A loop does not begin before its dimension.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "            start = out.binary(ops.BinaryFn.MAX, op.start, out.number(0))",
        "            start = op.start",
        (
            "tests/analysis/test_attacks_on_checks.py::test_a_length_between_borders_that_are_not_there"
            "_moves_nothing_outside[start_at_a_length]"
        ),
        "A loop whose start failed its check begins inside.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "        body = ops.Block(tuple(inner), (*op.body.yields, last))",
        "        body = ops.Block(tuple(inner), (*op.body.yields, carried))",
        "tests/analysis/test_attacks_on_checks.py::test_a_walk_along_links_ends_where_a_link_leads_outside",
        "A check that failed in one turn of a loop stays failed in the next.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        (
            "        if isinstance(op, ops.While) and isinstance(new, ops.While):\n"
            "            new = replace(new, test=self._test(op, carried, control))\n"
        ),
        "",
        "tests/analysis/test_attacks_on_checks.py::test_a_walk_along_links_ends_where_a_link_leads_outside",
        "A while loop ends when its program has failed.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "        return [*out.emitted, new], result\n\n    def _taint_results",
        "        return [*out.emitted, new], ok\n\n    def _taint_results",
        "tests/lowering/test_failed_programs.py::test_a_check_that_failed_in_a_branch_guards_what_follows_both",
        "A check that failed in a branch guards what follows both.",
    ),
    Mutant(
        "src/tileproof/lowering/residual_checks.py",
        "then=ops.Block(tuple(then), (*op.then.yields, one)),",
        "then=ops.Block(tuple(then), (*op.then.yields, ok)),",
        "tests/lowering/test_failed_programs.py::test_a_check_that_failed_in_a_branch_guards_what_follows_both",
        "A branch hands on what its checks found.",
    ),
    Mutant(
        "src/tileproof/lowering/product_sums.py",
        "            case ops.Constant(result=result, value=value) if value == 0:",
        "            case ops.Constant(result=result):",
        "tests/lowering/test_product_sums.py::test_a_product_that_is_needed_by_itself_stays[begun_with_one]",
        "A product that begins at a constant keeps it.",
    ),
    Mutant(
        "src/tileproof/lowering/product_sums.py",
        "and mma.acc in zeros and counts[product] == 1 and",
        "and counts[product] == 1 and",
        "tests/lowering/test_product_sums.py::test_a_product_that_is_needed_by_itself_stays[begun_with_one]",
        "A product that has an accumulator keeps it.",
    ),
    Mutant(
        "src/tileproof/lowering/product_sums.py",
        "and mma.acc in zeros and counts[product] == 1 and",
        "and mma.acc in zeros and",
        "tests/lowering/test_product_sums.py::test_a_product_that_is_needed_by_itself_stays[used_twice]",
        "A product that is used twice stays.",
    ),
    Mutant(
        "src/tileproof/lowering/product_sums.py",
        "product, other = (right, left) if right in products else (left, right)",
        "product, other = (left, right)",
        "tests/compiler/test_pipeline.py::test_each_pass_changes_the_ir_and_keeps_what_it_computes[Cuda()]",
        "A product on the right of a sum begins with what it is added to, too.",
    ),
    Mutant(
        "src/tileproof/lowering/product_sums.py",
        "if side in products and counts[side] == 1:",
        "if side in products:",
        (
            "tests/lowering/test_product_sums.py::test_only_a_float_product_of_one_use_is_rounded_with_its_sum["
            "scaled_and_squared-]"
        ),
        "A product with several uses is computed by itself.",
    ),
    Mutant(
        "src/tileproof/lowering/product_sums.py",
        'op.fn is ops.BinaryFn.MUL and op.result.type.dtype.name in ("f32", "f64")',
        "op.fn is ops.BinaryFn.MUL",
        "tests/lowering/test_product_sums.py::test_only_a_float_product_of_one_use_is_rounded_with_its_sum[scaled_integers-]",
        "Only products of f32 and f64 join their sum.",
    ),
    Mutant(
        "src/tileproof/lowering/split_join.py",
        "if isinstance(of.size, int) and of.size > 1)",
        "if isinstance(of.size, int) and of.size > 2)",
        "tests/lowering/test_product_sums.py::test_the_tiles_that_a_kernel_walks_by_are_those_of_spaces_and_loops",
        "Walks by tiles of two elements are noted.",
    ),
    Mutant(
        "src/tileproof/ir/walk.py",
        "        elif isinstance(op, ops.TilesLoop):\n            yield op.walker\n",
        "",
        "tests/lowering/test_product_sums.py::test_the_tiles_that_a_kernel_walks_by_are_those_of_spaces_and_loops",
        "Walks of loops are noted.",
    ),
    Mutant(
        "src/tileproof/compiler/pipeline.py",
        "    return apply(shared(verdict.residuals), verdict.kernel)",
        "    return apply(shared(), verdict.kernel)",
        "tests/lowering/test_residual_checks.py::test_stores_behind_a_check_are_guarded_and_no_load_can_leave[begun]",
        "Every target begins with the checks that the proof left.",
    ),
    Mutant(
        "src/tileproof/compiler/pipeline.py",
        "        if step.name == after:\n            break\n",
        "",
        "tests/compiler/test_pipeline.py::test_passes_after_the_one_that_is_named_are_not_run",
        "`--after` stops after the pass that it names.",
    ),
    Mutant(
        "src/tileproof/compiler/pipeline.py",
        '    if os.environ.get("TILEPROOF_VERIFY"):',
        '    if os.environ.get("TILEPROOF_VERIFY") == "2":',
        "tests/compiler/test_pipeline.py::test_ir_that_breaks_a_rule_is_reported_with_the_pass_that_made_it",
        "IR is verified after each pass if TILEPROOF_VERIFY is set.",
    ),
    Mutant(
        "src/tileproof/compiler/pipeline.py",
        '            error.add_note(f"the pass `{name}` made this IR")\n',
        "",
        "tests/compiler/test_pipeline.py::test_ir_that_breaks_a_rule_is_reported_with_the_pass_that_made_it",
        "A failure of the verifier names the pass.",
    ),
]
