// Producer: tileproof
entry @top_k(%arg0: tile<ptr<i8>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg4 : tile<i32>
  %assume_assume = assume div_by<4>, %assume : tile<i32>
  %0 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg5 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<i8>>
  %assume_2 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_3 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_4 = assume bounded<0, ?>, %arg3 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %2 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %3 = addi %2, %cst_1_i64 : tile<i64>
  %4 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_-2147483648_i32 = constant <i32: -2147483648> : tile<i32>
  %5:2 = loop iter_values(%arg9 = %cst_0_i32, %arg10 = %cst_-2147483648_i32) : tile<i32>, tile<i32> -> tile<i32>, tile<i32> {
    %cst_0_i32_13 = constant <i32: 0> : tile<i32>
    %cst_0_i32_14 = constant <i32: 0> : tile<i32>
    %13 = cmpi greater_than %arg10, %cst_0_i32_14, unsigned : tile<i32> -> tile<i1>
    if %13 {
    } else {
      break %arg9, %arg10 : tile<i32>, tile<i32>
    }
    %cst_0_i32_15 = constant <i32: 0> : tile<i32>
    %cst_0_i64_16 = constant <i64: 0> : tile<i64>
    %14 = maxi %1, %cst_0_i64_16 signed : tile<i64>
    %15 = trunci %14 : tile<i64> -> tile<i32>
    %cst_16_i32_17 = constant <i32: 16> : tile<i32>
    %16 = divi %15, %cst_16_i32_17 signed rounding<positive_inf> : tile<i32>
    %cst_0_i32_18 = constant <i32: 0> : tile<i32>
    %cst_1_i32_19 = constant <i32: 1> : tile<i32>
    %for_20 = for %loopIdx in (%cst_0_i32_18 to %16, step %cst_1_i32_19) : tile<i32> iter_values(%iterArg0 = %cst_0_i32_15) -> (tile<i32>) {
      %21 = exti %loopIdx signed : tile<i32> -> tile<i64>
      %cst_16_i64 = constant <i64: 16> : tile<i64>
      %22 = muli %21, %cst_16_i64 : tile<i64>
      %cst_16_i64_23 = constant <i64: 16> : tile<i64>
      %23 = addi %22, %cst_16_i64_23 : tile<i64>
      %24 = mini %23, %1 signed : tile<i64>
      %25 = subi %1, %22 : tile<i64>
      %cst_0_i64_24 = constant <i64: 0> : tile<i64>
      %26 = maxi %25, %cst_0_i64_24 signed : tile<i64>
      %cst_16_i64_25 = constant <i64: 16> : tile<i64>
      %27 = mini %26, %cst_16_i64_25 signed : tile<i64>
      %28 = trunci %27 : tile<i64> -> tile<i32>
      %tview = make_tensor_view %assume_3, shape = [%assume_assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
      %pview = make_partition_view %tview : partition_view<tile=(1x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
      %tile, %result_token = load_view_tko weak %pview[%blockId_x, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x16xf32>, token
      %reshape = reshape %tile : tile<1x16xf32> -> tile<16xf32>
      %29 = bitcast %reshape : tile<16xf32> -> tile<16xi32>
      %cst_-2147483648_i32_26 = constant <i32: -2147483648> : tile<i32>
      %reshape_27 = reshape %cst_-2147483648_i32_26 : tile<i32> -> tile<1xi32>
      %bcast = broadcast %reshape_27 : tile<1xi32> -> tile<16xi32>
      %cst_-2147483648_i32_28 = constant <i32: -2147483648> : tile<16xi32>
      %30 = cmpi less_than %29, %cst_-2147483648_i32_28, unsigned : tile<16xi32> -> tile<16xi1>
      %reshape_29 = reshape %cst_-2147483648_i32_26 : tile<i32> -> tile<1xi32>
      %bcast_30 = broadcast %reshape_29 : tile<1xi32> -> tile<16xi32>
      %cst_-2147483648_i32_31 = constant <i32: -2147483648> : tile<16xi32>
      %31 = ori %29, %cst_-2147483648_i32_31 : tile<16xi32>
      %cst_-1_i32 = constant <i32: -1> : tile<16xi32>
      %32 = xori %29, %cst_-1_i32 : tile<16xi32>
      %33 = select %30, %31, %32 : tile<16xi1>, tile<16xi32>
      %34 = cmpf not_equal unordered %reshape, %reshape : tile<16xf32> -> tile<16xi1>
      %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
      %reshape_32 = reshape %cst_0_f32 : tile<f32> -> tile<1xf32>
      %bcast_33 = broadcast %reshape_32 : tile<1xf32> -> tile<16xf32>
      %35 = cmpf equal ordered %reshape, %bcast_33 : tile<16xf32> -> tile<16xi1>
      %reshape_34 = reshape %cst_-2147483648_i32_26 : tile<i32> -> tile<1xi32>
      %bcast_35 = broadcast %reshape_34 : tile<1xi32> -> tile<16xi32>
      %36 = select %35, %bcast_35, %33 : tile<16xi1>, tile<16xi32>
      %cst_-1_i32_36 = constant <i32: -1> : tile<i32>
      %reshape_37 = reshape %cst_-1_i32_36 : tile<i32> -> tile<1xi32>
      %bcast_38 = broadcast %reshape_37 : tile<1xi32> -> tile<16xi32>
      %37 = select %34, %bcast_38, %36 : tile<16xi1>, tile<16xi32>
      %38 = ori %arg9, %arg10 : tile<i32>
      %reshape_39 = reshape %38 : tile<i32> -> tile<1xi32>
      %bcast_40 = broadcast %reshape_39 : tile<1xi32> -> tile<16xi32>
      %39 = cmpi greater_than_or_equal %37, %bcast_40, unsigned : tile<16xi32> -> tile<16xi1>
      %40 = iota : tile<16xi32>
      %reshape_41 = reshape %28 : tile<i32> -> tile<1xi32>
      %bcast_42 = broadcast %reshape_41 : tile<1xi32> -> tile<16xi32>
      %41 = cmpi less_than %40, %bcast_42, signed : tile<16xi32> -> tile<16xi1>
      %false = constant <i1: false> : tile<16xi1>
      %42 = select %41, %39, %false : tile<16xi1>, tile<16xi1>
      %43 = exti %42 unsigned : tile<16xi1> -> tile<16xi32>
      %reduce = reduce %43 dim=0 identities=[0 : i32] : tile<16xi32> -> tile<i32> 
      (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
        %45 = addi %reduce_rhs, %reduce_lhs : tile<i32>
        yield %45 : tile<i32>
      }
      %44 = addi %iterArg0, %reduce : tile<i32>
      continue %44 : tile<i32>
    }
    %17 = cmpi greater_than_or_equal %for_20, %arg6, signed : tile<i32> -> tile<i1>
    %18 = ori %arg9, %arg10 : tile<i32>
    %19 = select %17, %18, %arg9 : tile<i1>, tile<i32>
    %cst_1_i32_21 = constant <i32: 1> : tile<i32>
    %cst_1_i32_22 = constant <i32: 1> : tile<i32>
    %20 = shri %arg10, %cst_1_i32_22 unsigned : tile<i32>
    continue %19, %20 : tile<i32>, tile<i32>
  }
  %cst_0_i32_5 = constant <i32: 0> : tile<i32>
  %cst_0_i32_6 = constant <i32: 0> : tile<i32>
  %6 = maxi %arg6, %cst_0_i32_6 signed : tile<i32>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %7 = maxi %1, %cst_0_i64 signed : tile<i64>
  %8 = trunci %7 : tile<i64> -> tile<i32>
  %cst_16_i32 = constant <i32: 16> : tile<i32>
  %9 = divi %8, %cst_16_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32_7 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for = for %loopIdx in (%cst_0_i32_7 to %9, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %6) -> (tile<i32>) {
    %13 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_16_i64 = constant <i64: 16> : tile<i64>
    %14 = muli %13, %cst_16_i64 : tile<i64>
    %cst_16_i64_13 = constant <i64: 16> : tile<i64>
    %15 = addi %14, %cst_16_i64_13 : tile<i64>
    %16 = mini %15, %1 signed : tile<i64>
    %17 = subi %1, %14 : tile<i64>
    %cst_0_i64_14 = constant <i64: 0> : tile<i64>
    %18 = maxi %17, %cst_0_i64_14 signed : tile<i64>
    %cst_16_i64_15 = constant <i64: 16> : tile<i64>
    %19 = mini %18, %cst_16_i64_15 signed : tile<i64>
    %20 = trunci %19 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_3, shape = [%assume_assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(1x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%blockId_x, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x16xf32>, token
    %reshape = reshape %tile : tile<1x16xf32> -> tile<16xf32>
    %21 = bitcast %reshape : tile<16xf32> -> tile<16xi32>
    %cst_-2147483648_i32_16 = constant <i32: -2147483648> : tile<i32>
    %reshape_17 = reshape %cst_-2147483648_i32_16 : tile<i32> -> tile<1xi32>
    %bcast = broadcast %reshape_17 : tile<1xi32> -> tile<16xi32>
    %cst_-2147483648_i32_18 = constant <i32: -2147483648> : tile<16xi32>
    %22 = cmpi less_than %21, %cst_-2147483648_i32_18, unsigned : tile<16xi32> -> tile<16xi1>
    %reshape_19 = reshape %cst_-2147483648_i32_16 : tile<i32> -> tile<1xi32>
    %bcast_20 = broadcast %reshape_19 : tile<1xi32> -> tile<16xi32>
    %cst_-2147483648_i32_21 = constant <i32: -2147483648> : tile<16xi32>
    %23 = ori %21, %cst_-2147483648_i32_21 : tile<16xi32>
    %cst_-1_i32 = constant <i32: -1> : tile<16xi32>
    %24 = xori %21, %cst_-1_i32 : tile<16xi32>
    %25 = select %22, %23, %24 : tile<16xi1>, tile<16xi32>
    %26 = cmpf not_equal unordered %reshape, %reshape : tile<16xf32> -> tile<16xi1>
    %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
    %reshape_22 = reshape %cst_0_f32 : tile<f32> -> tile<1xf32>
    %bcast_23 = broadcast %reshape_22 : tile<1xf32> -> tile<16xf32>
    %27 = cmpf equal ordered %reshape, %bcast_23 : tile<16xf32> -> tile<16xi1>
    %reshape_24 = reshape %cst_-2147483648_i32_16 : tile<i32> -> tile<1xi32>
    %bcast_25 = broadcast %reshape_24 : tile<1xi32> -> tile<16xi32>
    %28 = select %27, %bcast_25, %25 : tile<16xi1>, tile<16xi32>
    %cst_-1_i32_26 = constant <i32: -1> : tile<i32>
    %reshape_27 = reshape %cst_-1_i32_26 : tile<i32> -> tile<1xi32>
    %bcast_28 = broadcast %reshape_27 : tile<1xi32> -> tile<16xi32>
    %29 = select %26, %bcast_28, %28 : tile<16xi1>, tile<16xi32>
    %reshape_29 = reshape %5#0 : tile<i32> -> tile<1xi32>
    %bcast_30 = broadcast %reshape_29 : tile<1xi32> -> tile<16xi32>
    %30 = cmpi greater_than %29, %bcast_30, unsigned : tile<16xi32> -> tile<16xi1>
    %31 = iota : tile<16xi32>
    %reshape_31 = reshape %20 : tile<i32> -> tile<1xi32>
    %bcast_32 = broadcast %reshape_31 : tile<1xi32> -> tile<16xi32>
    %32 = cmpi less_than %31, %bcast_32, signed : tile<16xi32> -> tile<16xi1>
    %false = constant <i1: false> : tile<16xi1>
    %33 = select %32, %30, %false : tile<16xi1>, tile<16xi1>
    %34 = exti %33 unsigned : tile<16xi1> -> tile<16xi32>
    %reduce = reduce %34 dim=0 identities=[0 : i32] : tile<16xi32> -> tile<i32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %36 = addi %reduce_rhs, %reduce_lhs : tile<i32>
      yield %36 : tile<i32>
    }
    %35 = subi %iterArg0, %reduce : tile<i32>
    continue %35 : tile<i32>
  }
  %cst_0_i64_8 = constant <i64: 0> : tile<i64>
  %10 = maxi %1, %cst_0_i64_8 signed : tile<i64>
  %11 = trunci %10 : tile<i64> -> tile<i32>
  %cst_16_i32_9 = constant <i32: 16> : tile<i32>
  %12 = divi %11, %cst_16_i32_9 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32_10 = constant <i32: 0> : tile<i32>
  %cst_1_i32_11 = constant <i32: 1> : tile<i32>
  %for_12 = for %loopIdx in (%cst_0_i32_10 to %12, step %cst_1_i32_11) : tile<i32> iter_values(%iterArg0 = %for) -> (tile<i32>) {
    %13 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_16_i64 = constant <i64: 16> : tile<i64>
    %14 = muli %13, %cst_16_i64 : tile<i64>
    %cst_16_i64_13 = constant <i64: 16> : tile<i64>
    %15 = addi %14, %cst_16_i64_13 : tile<i64>
    %16 = mini %15, %1 signed : tile<i64>
    %17 = subi %1, %14 : tile<i64>
    %cst_0_i64_14 = constant <i64: 0> : tile<i64>
    %18 = maxi %17, %cst_0_i64_14 signed : tile<i64>
    %cst_16_i64_15 = constant <i64: 16> : tile<i64>
    %19 = mini %18, %cst_16_i64_15 signed : tile<i64>
    %20 = trunci %19 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_3, shape = [%assume_assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(1x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%blockId_x, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x16xf32>, token
    %reshape = reshape %tile : tile<1x16xf32> -> tile<16xf32>
    %21 = bitcast %reshape : tile<16xf32> -> tile<16xi32>
    %cst_-2147483648_i32_16 = constant <i32: -2147483648> : tile<i32>
    %reshape_17 = reshape %cst_-2147483648_i32_16 : tile<i32> -> tile<1xi32>
    %bcast = broadcast %reshape_17 : tile<1xi32> -> tile<16xi32>
    %cst_-2147483648_i32_18 = constant <i32: -2147483648> : tile<16xi32>
    %22 = cmpi less_than %21, %cst_-2147483648_i32_18, unsigned : tile<16xi32> -> tile<16xi1>
    %reshape_19 = reshape %cst_-2147483648_i32_16 : tile<i32> -> tile<1xi32>
    %bcast_20 = broadcast %reshape_19 : tile<1xi32> -> tile<16xi32>
    %cst_-2147483648_i32_21 = constant <i32: -2147483648> : tile<16xi32>
    %23 = ori %21, %cst_-2147483648_i32_21 : tile<16xi32>
    %cst_-1_i32 = constant <i32: -1> : tile<16xi32>
    %24 = xori %21, %cst_-1_i32 : tile<16xi32>
    %25 = select %22, %23, %24 : tile<16xi1>, tile<16xi32>
    %26 = cmpf not_equal unordered %reshape, %reshape : tile<16xf32> -> tile<16xi1>
    %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
    %reshape_22 = reshape %cst_0_f32 : tile<f32> -> tile<1xf32>
    %bcast_23 = broadcast %reshape_22 : tile<1xf32> -> tile<16xf32>
    %27 = cmpf equal ordered %reshape, %bcast_23 : tile<16xf32> -> tile<16xi1>
    %reshape_24 = reshape %cst_-2147483648_i32_16 : tile<i32> -> tile<1xi32>
    %bcast_25 = broadcast %reshape_24 : tile<1xi32> -> tile<16xi32>
    %28 = select %27, %bcast_25, %25 : tile<16xi1>, tile<16xi32>
    %cst_-1_i32_26 = constant <i32: -1> : tile<i32>
    %reshape_27 = reshape %cst_-1_i32_26 : tile<i32> -> tile<1xi32>
    %bcast_28 = broadcast %reshape_27 : tile<1xi32> -> tile<16xi32>
    %29 = select %26, %bcast_28, %28 : tile<16xi1>, tile<16xi32>
    %reshape_29 = reshape %5#0 : tile<i32> -> tile<1xi32>
    %bcast_30 = broadcast %reshape_29 : tile<1xi32> -> tile<16xi32>
    %30 = cmpi equal %29, %bcast_30, unsigned : tile<16xi32> -> tile<16xi1>
    %reshape_31 = reshape %5#0 : tile<i32> -> tile<1xi32>
    %bcast_32 = broadcast %reshape_31 : tile<1xi32> -> tile<16xi32>
    %31 = cmpi greater_than %29, %bcast_32, unsigned : tile<16xi32> -> tile<16xi1>
    %32 = exti %30 unsigned : tile<16xi1> -> tile<16xi32>
    %33 = scan %32 dim=0 reverse=false identities=[0 : i32] : tile<16xi32> -> tile<16xi32> 
    (%arg9: tile<i32>, %arg10: tile<i32>) {
      %52 = addi %arg10, %arg9 : tile<i32>
      yield %52 : tile<i32>
    }
    %reshape_33 = reshape %iterArg0 : tile<i32> -> tile<1xi32>
    %bcast_34 = broadcast %reshape_33 : tile<1xi32> -> tile<16xi32>
    %34 = cmpi less_than_or_equal %33, %bcast_34, signed : tile<16xi32> -> tile<16xi1>
    %35 = andi %30, %34 : tile<16xi1>
    %36 = ori %31, %35 : tile<16xi1>
    %37 = exti %36 unsigned : tile<16xi1> -> tile<16xi8>
    %38 = iota : tile<16xi32>
    %reshape_35 = reshape %20 : tile<i32> -> tile<1xi32>
    %bcast_36 = broadcast %reshape_35 : tile<1xi32> -> tile<16xi32>
    %39 = cmpi less_than %38, %bcast_36, signed : tile<16xi32> -> tile<16xi1>
    %40 = exti %assume_2 signed : tile<i32> -> tile<i64>
    %41 = muli %2, %40 : tile<i64>
    %42 = addi %41, %14 : tile<i64>
    %43 = offset %assume_1, %42 : tile<ptr<i8>>, tile<i64> -> tile<ptr<i8>>
    %44 = iota : tile<16xi32>
    %reshape_37 = reshape %43 : tile<ptr<i8>> -> tile<1xptr<i8>>
    %bcast_38 = broadcast %reshape_37 : tile<1xptr<i8>> -> tile<16xptr<i8>>
    %45 = offset %bcast_38, %44 : tile<16xptr<i8>>, tile<16xi32> -> tile<16xptr<i8>>
    %46 = store_ptr_tko weak %45, %37, %39 : tile<16xptr<i8>>, tile<16xi8>, tile<16xi1> -> token
    %47 = iota : tile<16xi32>
    %reshape_39 = reshape %20 : tile<i32> -> tile<1xi32>
    %bcast_40 = broadcast %reshape_39 : tile<1xi32> -> tile<16xi32>
    %48 = cmpi less_than %47, %bcast_40, signed : tile<16xi32> -> tile<16xi1>
    %false = constant <i1: false> : tile<16xi1>
    %49 = select %48, %30, %false : tile<16xi1>, tile<16xi1>
    %50 = exti %49 unsigned : tile<16xi1> -> tile<16xi32>
    %reduce = reduce %50 dim=0 identities=[0 : i32] : tile<16xi32> -> tile<i32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %52 = addi %reduce_rhs, %reduce_lhs : tile<i32>
      yield %52 : tile<i32>
    }
    %51 = subi %iterArg0, %reduce : tile<i32>
    continue %51 : tile<i32>
  }
  return
}
