"""Mutants of `frontend`: what the language refuses, and what values and axes are."""

from __future__ import annotations

from .mutant import Mutant

FRONTEND = [
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "if dimension != Named(walks.dimension) and not isinstance(dimension, Unnamed):",
        "if dimension != Named(walks.dimension) and isinstance(dimension, Fixed):",
        "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused[c[i, i] = 1.0]",
        "A walker indexes only axes of the dimension that it walks.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "    if tensor in ctx.cut:",
        "    if False:",
        (
            "tests/frontend/test_spaces_and_combining.py::test_a_space_in_a_wrong_place_or_shape_is_ref"
            'used[_, late = tp.split_at(y, "M", 1)\\nfor i in tp.parallel(M=2):\\n]'
        ),
        "A tensor that was cut in two is reached through its views alone.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "    if len(items) != len(dimensions):",
        "    if len(items) > len(dimensions):",
        "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused[c[i] = 1.0]",
        "An access indexes every axis of its tensor.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "room = None if extent is None else at_least(extent - stop, 0)",
        "room = None if extent is None else at_least(extent - start, 0)",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = f[2:5, 0].sum()]"
        ),
        "A constant slice ends within its axis.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "    if isinstance(number, int) and number < 0:",
        "    if isinstance(number, int) and number < -1:",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = col[-1]]"
        ),
        "A constant index is not negative.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "isinstance(number, int) and number >= extent:",
        "isinstance(number, int) and number > extent:",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = f[4, 0]]"
        ),
        "A constant index is less than the extent of its axis.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        '        if access is Access.OUT:\n            message = f"`{tensor.name}` is an Out',
        '        if access is Access.IN:\n            message = f"`{tensor.name}` is an Out',
        (
            "tests/frontend/test_spaces_and_combining.py::test_an_access_that_is_not_allowed_is_refused"
            "[Out-f32-s[i] += 1.0-Code.READS_OUT]"
        ),
        "A read of an Out names its own error.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "    if access is Access.IN:\n        declared",
        "    if False:\n        declared",
        "tests/frontend/test_control_flow.py::test_what_has_no_meaning_is_refused[x[i, j] = 1.0]",
        "An In is never written.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "    if access.combines:\n        cure",
        "    if access is Access.SUM:\n        cure",
        (
            "tests/frontend/test_spaces_and_combining.py::test_an_access_that_is_not_allowed_is_refused"
            "[Max-f32-s[i] = 1.0-Code.READS_SUM]"
        ),
        "A Max or a Min is combined into, never overwritten.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "    if not access.combines:",
        "    if access is Access.IN:",
        (
            "tests/frontend/test_spaces_and_combining.py::test_an_access_that_is_not_allowed_is_refused"
            "[InOut-f32-tp.update(s, i, 1.0)-Code.BAD_REDUCTION]"
        ),
        "Only a Sum, a Max or a Min is combined into.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "    if ctx.place is Place.OUTSIDE:\n",
        "    if ctx.place is Place.ALONE:\n",
        "tests/frontend/test_spaces_and_combining.py::test_a_kernel_without_a_parallel_space_is_one_program",
        "Nothing is written outside tp.parallel.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "        if not (have.is_float and wanted.is_float):",
        "        if not (have.is_float or wanted.is_float):",
        "tests/frontend/test_control_flow.py::test_all_mistakes_are_reported_at_once_and_their_consequences_are_not",
        "A store converts floats to floats only; every other cast is written.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "        if isinstance(own.tag, DimensionTag) and place == Axis(own.length):",
        "        if own.tag is not None and place == Axis(own.length):",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[0:2, j] = c[i, j]]"
        ),
        "A tile of a walker keeps its tag: it may be short.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "    if not whole.is_full:",
        "    if whole.is_full and whole.tag is not None:",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = col[i][0:1].sum()]"
        ),
        "An axis that may be short is not sliced.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "    if count > tile.type.rank:",
        "    if count > tile.type.rank + 1:",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = col[i][:, 0:1]]"
        ),
        "The index of a tile names no more axes than the tile has.",
    ),
    Mutant(
        "src/tileproof/frontend/subscripts.py",
        "    if value.type.dtype is not dtype or value.type.axes:",
        "    if value.type.axes:",
        "tests/language/test_rules_indices.py::test_the_fill_has_the_type_of_the_tensor",
        "What fills a get has the element type of the tensor.",
    ),
    Mutant(
        "src/tileproof/frontend/entities.py",
        "    if left.tag is not None and right.tag is not None:\n",
        "    if left.tag is not None and right.tag is not None and left.length != right.length:\n",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = c[i, j] + col[i]]"
        ),
        "Tiles of different walkers never meet.",
    ),
    Mutant(
        "src/tileproof/frontend/entities.py",
        "    if left.length != right.length:\n        raise Clash(left, right, from_last)\n",
        "",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = tp.cat((tp.zeros((2, 2)), tp.zeros((2, 3)))).sum()]"
        ),
        "Axes of different lengths never meet.",
    ),
    Mutant(
        "src/tileproof/frontend/entities.py",
        "    return left if left.tag is not None else right\n",
        "    return left if left.tag is None else right\n",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "t = tp.zeros((BK,))\\nfor p in tp.tiles(K=BK):\\n    t = t + b[p, 0]\\nc[i, j] = t.sum()]"
        ),
        "Where an untagged axis meets a tagged one, the result may be short.",
    ),
    Mutant(
        "src/tileproof/frontend/entities.py",
        "one.length != other.length or (one.tag and other.tag and one.tag != other.tag)",
        "one.length != other.length",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "if s > 0.0:\\n    g = col[i]\\nelse:\\n    g = row[j]\\nc[i, j] = g.sum()]"
        ),
        "Branches do not give a name tiles of different walkers.",
    ),
    Mutant(
        "src/tileproof/frontend/entities.py",
        "        joined.append(one if one.tag else other)",
        "        joined.append(other if one.tag else one)",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "t = tp.zeros((BK,))\\nfor p in tp.tiles(K=BK):\\n    t = t + b[p, 0]\\nc[i, j] = t.sum()]"
        ),
        "A value that may be short in one branch may be short after both.",
    ),
    Mutant(
        "src/tileproof/frontend/entities.py",
        "        return meet(value, target) == target",
        "        return len(meet(value, target)) == len(target)",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[0:2, j] = c[i, j]]"
        ),
        "A value is stored only where its axes fit exactly.",
    ),
    Mutant(
        "src/tileproof/ir/types.py",
        "        return not isinstance(self.tag, WalkerTag)",
        "        return self.tag is None or self.length == 1",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = e[:].reshape(j).sum()]"
        ),
        "An axis of a walker is never taken to be full.",
    ),
    Mutant(
        "src/tileproof/frontend/control_flow.py",
        "        if isinstance(axis.tag, WalkerTag) and axis.tag.walker in local:",
        "        if isinstance(axis.tag, WalkerTag) and axis.tag.walker not in local:",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "t = 0.0\\nfor p in tp.tiles(K=BK):\\n    t = t + b[p, 0]\\nc[i, j] = 1.0]"
        ),
        "A tile of a loop's walker is not carried to the next turn.",
    ),
    Mutant(
        "src/tileproof/frontend/control_flow.py",
        '            return Unbound(\n                "it is bound in one branch only"',
        '            return known\n            return Unbound(\n                "it is bound in one branch only"',
        (
            "tests/frontend/test_control_flow.py::test_what_has_no_meaning_is_refused[if x[i, j].sum() "
            "> 0.0:\\n    a = 1.0\\ny[i, j] = a]"
        ),
        "A name bound in one branch only is not used after both.",
    ),
    Mutant(
        "src/tileproof/frontend/control_flow.py",
        "        if not isinstance(outer.get(name), Binding):\n            outer[name] = Unbound(",
        "        if isinstance(outer.get(name), Binding):\n            outer[name] = Unbound(",
        "tests/frontend/test_random_control_flow.py::test_random_control_flow_agrees_with_python[0]",
        "A name bound in a loop only is not used after it.",
    ),
    Mutant(
        "src/tileproof/frontend/control_flow.py",
        "            if BOOL in kinds and len(kinds) > 1:\n                return None\n",
        "",
        (
            "tests/frontend/test_control_flow.py::test_what_has_no_meaning_is_refused[if x[i, j].sum() "
            "> 0.0:\\n    a = True\\nelse:\\n    a = 1\\ny[i, j]]"
        ),
        "A truth value and a number have no common type.",
    ),
    Mutant(
        "src/tileproof/frontend/for_loops.py",
        "    if walk.dimension != content.dimension:",
        "    if False:",
        "tests/language/test_rules_spaces.py::test_segments_are_walked_by_offsets_of_their_dimension",
        "Segments walk the dimension that their borders divide.",
    ),
    Mutant(
        "src/tileproof/frontend/for_loops.py",
        "as size) if at_least(size, 1) is not False:",
        "as size) if at_least(size, 0) is not False:",
        (
            "tests/frontend/test_spaces_and_combining.py::test_a_space_in_a_wrong_place_or_shape_is_ref"
            "used[for i in tp.parallel(M=0):\\n    pass]"
        ),
        "A tile has at least one element.",
    ),
    Mutant(
        "src/tileproof/frontend/for_loops.py",
        "if ctx.place is Place.INSIDE or ctx.depth or ctx.stack:",
        "if ctx.place is Place.INSIDE or ctx.stack:",
        (
            "tests/frontend/test_spaces_and_combining.py::test_a_space_in_a_wrong_place_or_shape_is_ref"
            "used[for r in range(2):\\n    for i in tp.parallel(M=2):\\n        y[]"
        ),
        "The parallel space stands at the top level, in no loop or branch.",
    ),
    Mutant(
        "src/tileproof/frontend/for_loops.py",
        '("start", BinaryFn.MAX), ("stop", BinaryFn.MIN)',
        '("start", BinaryFn.MAX), ("stop", BinaryFn.MAX)',
        "tests/language/test_rules_spaces.py::test_sub_tiles_take_start_and_stop_and_stay_in_their_tile",
        "Sub-tiles never go past the end of their tile.",
    ),
    Mutant(
        "src/tileproof/frontend/for_loops.py",
        "    if isinstance(step, Known) and step.value == 0:",
        "    if isinstance(step, Known) and step.value is None:",
        (
            "tests/frontend/test_control_flow.py::test_what_has_no_meaning_is_refused[for a in "
            "range(0, 3, 0):\\n    pass]"
        ),
        "A range does not step by 0.",
    ),
    Mutant(
        "src/tileproof/frontend/for_loops.py",
        "            check_join(ops, walkers, span)",
        "            pass",
        "tests/language/test_rules_spaces.py::test_a_split_is_joined",
        "Pieces of a split axis are joined.",
    ),
    Mutant(
        "src/tileproof/frontend/functions.py",
        "    if have.bits != dtype.bits or any(",
        "    if any(",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = tp.bitcast(c[i, j], f16).to(f32)]"
        ),
        "A bitcast goes between numbers of the same width.",
    ),
    Mutant(
        "src/tileproof/frontend/functions.py",
        "not -rank <= axis < rank:",
        "not -rank <= axis <= rank:",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = c[i, j].sum(axis=2)]"
        ),
        "An axis of a reduction is one that the tile has.",
    ),
    Mutant(
        "src/tileproof/frontend/functions.py",
        '    for axis in tile.type.axes:\n        _need_full(axis, "reshape", call.span)\n',
        "",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = c[i, j].reshape(BM * BN).sum()]"
        ),
        "An axis that may be short is not reshaped.",
    ),
    Mutant(
        "src/tileproof/frontend/functions.py",
        "    if before != after:\n",
        "    if before < after if isinstance(before, int) else False:\n",
        "tests/frontend/test_check_objects.py::test_dimensions_stay_symbolic_unless_they_are_given",
        "A reshape keeps the number of elements.",
    ),
    Mutant(
        "src/tileproof/frontend/functions.py",
        '        _need_full(part.type.axes[axis], "tp.cat", where)\n',
        "        pass\n",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = tp.cat((col[i], col[i])).sum()]"
        ),
        "Tiles that may be short are not joined by tp.cat.",
    ),
    Mutant(
        "src/tileproof/frontend/functions.py",
        "ctx.place is not Place.INSIDE and not ctx.depth and",
        "ctx.place is not Place.INSIDE and",
        (
            "tests/frontend/test_spaces_and_combining.py::test_a_space_in_a_wrong_place_or_shape_is_ref"
            "used[if s > 0.0:\\n    tp.require(s > 0.0)\\nfor i in tp.parallel(M=2]"
        ),
        "A contract is tested once, so it stands at the top level.",
    ),
    Mutant(
        "src/tileproof/frontend/functions.py",
        "        if isinstance(op, ops.Load | ops.Get) or ops.blocks(op):",
        "        if isinstance(op, ops.Get) or ops.blocks(op):",
        (
            "tests/frontend/test_spaces_and_combining.py::test_a_space_in_a_wrong_place_or_shape_is_ref"
            "used[tp.require(x[0] > 0.0)\\nfor i in tp.parallel(M=2):\\n    y[i] =]"
        ),
        "A contract depends on host values only.",
    ),
    Mutant(
        "src/tileproof/frontend/constant_folding.py",
        "a >> b if b >= 0 else -int(a < 0)",
        "a >> b if b >= 0 else 0",
        "tests/frontend/test_expressions.py::test_constants_are_shifted_like_values[-5 >> -1]",
        "Constants are shifted as values are at run time.",
    ),
    Mutant(
        "src/tileproof/frontend/constant_folding.py",
        "    if isinstance(value, int) and value.bit_length() > MOST_BITS:",
        "    if isinstance(value, int) and value.bit_length() > MOST_BITS * 1000:",
        (
            "tests/frontend/test_control_flow.py::test_what_has_no_meaning_is_refused[a = "
            "0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF]"
        ),
        "A constant that is too large is refused, not computed with.",
    ),
    Mutant(
        "src/tileproof/frontend/constant_folding.py",
        "        if fn.compares:  #",
        "        if True:  #",
        (
            "tests/frontend/test_dimensions_and_tags.py::test_what_does_not_belong_together_is_refused["
            "c[i, j] = tp.zeros((min(D, 4),)).sum()]"
        ),
        "A constant that depends on an open dimension is not guessed.",
    ),
    Mutant(
        "src/tileproof/frontend/captures.py",
        "            if where.get(name, MISSING) is not value:",
        "            if where.get(name, value) is not value:",
        (
            "tests/frontend/test_captures.py::test_every_change_of_what_was_captured_is_noticed[an "
            "attribute of a module goes]"
        ),
        "A compiled kernel is not used after a captured name was removed.",
    ),
    Mutant(
        "src/tileproof/frontend/captures.py",
        "helper.__code__ is not code or helper.__defaults__ is not defaults",
        "helper.__code__ is not code",
        "tests/frontend/test_captures.py::test_watching_never_says_that_what_is_out_of_date_is_current",
        "A compiled kernel is not used after a helper's defaults changed.",
    ),
    Mutant(
        "src/tileproof/frontend/captures.py",
        "if helper.__code__ is not code or helper.__defaults__",
        "if helper.__defaults__",
        (
            "tests/frontend/test_captures.py::test_a_change_before_the_first_question_is_noticed_too[th"
            "e code of a helper that a helper calls]"
        ),
        "A compiled kernel is not used after a helper's code changed.",
    ),
    Mutant(
        "src/tileproof/frontend/captures.py",
        "    return not isinstance(value, FunctionType) or not value.__kwdefaults__ or is_language(value)",
        "    return True",
        "tests/frontend/test_captures.py::test_every_change_of_what_was_captured_is_noticed[all defaults by name go]",
        "A helper with keyword defaults is looked at closely.",
    ),
    Mutant(
        "src/tileproof/frontend/dimensions.py",
        "if rest == 0 and value >= 0 else None",
        "if rest == 0 else None",
        "tests/language/test_rules_signatures.py::test_a_dimension_that_only_an_expression_names_is_solved_for",
        "No dimension is solved to a negative extent.",
    ),
    Mutant(
        "src/tileproof/frontend/dimensions.py",
        "if rest == 0 and value >= 0 else None",
        "if value >= 0 else None",
        "tests/frontend/test_dimensions.py::test_what_follows_from_extents_is_found[no whole number]",
        "A dimension is solved only where the equation comes out even.",
    ),
    Mutant(
        "src/tileproof/frontend/dimensions.py",
        "    if len(missing) != 1:\n        return None",
        "    if not missing:\n        return None",
        "tests/frontend/test_dimensions.py::test_what_follows_from_extents_is_found[two names are open]",
        "An equation with two open dimensions is not solved.",
    ),
    Mutant(
        "src/tileproof/frontend/dimensions.py",
        "return -(-one // two) if isinstance(two, Extent) or two else 0",
        "return one // two if isinstance(two, Extent) or two else 0",
        "tests/frontend/test_dimensions.py::test_what_follows_from_extents_is_found[a constant]",
        "A division of dimensions is rounded up.",
    ),
    Mutant(
        "src/tileproof/frontend/dimensions.py",
        "    elif known.text != shown:",
        "    elif len(known.text) != len(shown):",
        "tests/frontend/test_dimensions.py::test_a_computed_dimension_has_one_meaning",
        "A computed dimension has one meaning in a signature.",
    ),
    Mutant(
        "src/tileproof/frontend/tile_operations.py",
        "    is_position = binary(b, ops.BinaryFn.GE, tile, zero, span, (span, span))",
        "    is_position = binary(b, ops.BinaryFn.GE, tile, tile, span, (span, span))",
        "tests/language/test_rules_indices.py::test_a_store_at_none_that_is_chosen_writes_nothing",
        "A negative position is outside, and not none.",
    ),
    Mutant(
        "src/tileproof/frontend/tile_operations.py",
        "    if left.length != right.length or (left.tag and right.tag and left.tag != right.tag):",
        "    if left.length != right.length:",
        "tests/corpus/test_corpus.py::test_an_unsafe_case_is_refused_for_its_fault[dimension-products_across]",
        "Matrices of different walks do not meet in a product.",
    ),
    # Forms: optional parameters, leading axes, splits of one piece, constants as axes, loops that are written out.
    Mutant(
        "src/tileproof/frontend/optional.py",
        "        for count in range(len(optional) + 1):",
        "        for count in range(1):",
        "tests/frontend/test_optional_parameters.py::test_a_mistake_of_all_forms_is_told_once",
        "Every choice of the optional parameters is checked.",
    ),
    Mutant(
        "src/tileproof/frontend/optional.py",
        "    for leading in (1, 0, 2) if",
        "    for leading in (1,) if",
        "tests/frontend/test_leading_axes.py::test_every_number_of_axes_is_checked",
        "A kernel with leading axes is checked without any and with several too.",
    ),
    Mutant(
        "src/tileproof/compiler/proofs.py",
        "kernel.leading, kernel.deny_checks",
        "kernel.deny_checks",
        "tests/frontend/test_leading_axes.py::test_proofs_of_forms_are_kept_apart",
        "A proof of one number of leading axes is not taken for another.",
    ),
    Mutant(
        "src/tileproof/frontend/functions.py",
        "isinstance(entity.value, bool) and ctx.signature.has_forms",
        "isinstance(entity.value, int) and ctx.signature.leading",
        "tests/frontend/test_optional_parameters.py::test_a_contract_rules_forms_out",
        "A contract rules out forms, and nothing is launched in one that it rules out.",
    ),
    Mutant(
        "src/tileproof/frontend/signature.py",
        "    unknown = tuple(name for name in whole.dimensions if name not in form.dimensions)",
        "    unknown: tuple[str, ...] = ()",
        "tests/frontend/test_optional_parameters.py::test_a_mistake_of_all_forms_is_told_once",
        "A dimension that only absent tensors name is used under a test.",
    ),
    Mutant(
        "src/tileproof/frontend/for_loops.py",
        "    walked = WalkerType(owner.dimension, size)\n",
        "    walked = WalkerType(owner.dimension, 2 * size)  # type: ignore[operator]\n",
        "tests/frontend/test_constants_in_spaces.py::test_a_split_of_one_piece_is_the_code_without_it",
        "A split of one piece is the code without it.",
    ),
    Mutant(
        "src/tileproof/runtime/launch/binding.py",
        "            if extent < 0:",
        "            if extent < -1:",
        "tests/frontend/test_constants_in_spaces.py::test_a_constant_counts_programs",
        "A constant that is walked is an extent, of at least 0.",
    ),
    Mutant(
        "src/tileproof/frontend/for_loops.py",
        "            ctx.builder.spend(span)\n",
        "",
        "tests/frontend/test_constants_in_spaces.py::test_what_is_written_out_comes_to_an_end",
        "Loops that are written out come to an end, also if they do nothing.",
    ),
    Mutant(
        "src/tileproof/frontend/calls.py",
        "    ctx.builder.spend(span)\n",
        "",
        "tests/frontend/test_constants_in_spaces.py::test_what_is_written_out_comes_to_an_end",
        "Helpers that call others come to an end, also if they do nothing.",
    ),
]
