// Producer: tileproof
entry @grouped_matmul(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<f32>>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<ptr<i32>>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>, %arg11: tile<i32>, %arg12: tile<i32>, %arg13: tile<i32>, %arg14: tile<ptr<i64>>, %arg15: tile<i32>, %arg16: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg8 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg9 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume bounded<0, ?>, %arg10 : tile<i32>
  %2 = exti %assume_1 signed : tile<i32> -> tile<i64>
  %assume_2 = assume bounded<0, ?>, %arg11 : tile<i32>
  %assume_assume = assume div_by<4>, %assume_2 : tile<i32>
  %3 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_3 = assume bounded<0, ?>, %arg12 : tile<i32>
  %4 = exti %assume_3 signed : tile<i32> -> tile<i64>
  %assume_4 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_5 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_6 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_7 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_8 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_9 = assume bounded<0, ?>, %arg5 : tile<i32>
  %assume_10 = assume bounded<0, ?>, %arg6 : tile<i32>
  %assume_11 = assume div_by<16>, %arg7 : tile<ptr<i32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %5 = remi %blockId_x, %arg15 signed : tile<i32>
  %6 = divi %blockId_x, %arg15 signed : tile<i32>
  %7 = exti %6 signed : tile<i32> -> tile<i64>
  %cst_4_i64 = constant <i64: 4> : tile<i64>
  %8 = muli %7, %cst_4_i64 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %9 = addi %8, %cst_0_i64 : tile<i64>
  %10 = offset %arg14, %9 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
  %result, %result_token = load_ptr_tko weak %10 : tile<ptr<i64>> -> tile<i64>, token
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %11 = addi %8, %cst_1_i64 : tile<i64>
  %12 = offset %arg14, %11 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
  %result_12, %result_token_13 = load_ptr_tko weak %12 : tile<ptr<i64>> -> tile<i64>, token
  %cst_2_i64 = constant <i64: 2> : tile<i64>
  %13 = addi %8, %cst_2_i64 : tile<i64>
  %14 = offset %arg14, %13 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
  %result_14, %result_token_15 = load_ptr_tko weak %14 : tile<ptr<i64>> -> tile<i64>, token
  %cst_3_i64 = constant <i64: 3> : tile<i64>
  %15 = addi %8, %cst_3_i64 : tile<i64>
  %16 = offset %arg14, %15 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
  %result_16, %result_token_17 = load_ptr_tko weak %16 : tile<ptr<i64>> -> tile<i64>, token
  %17 = subi %result_12, %result : tile<i64>
  %cst_4_i64_18 = constant <i64: 4> : tile<i64>
  %18 = mini %17, %cst_4_i64_18 signed : tile<i64>
  %19 = trunci %18 : tile<i64> -> tile<i32>
  %20 = exti %5 signed : tile<i32> -> tile<i64>
  %cst_8_i64 = constant <i64: 8> : tile<i64>
  %21 = muli %20, %cst_8_i64 : tile<i64>
  %cst_8_i64_19 = constant <i64: 8> : tile<i64>
  %22 = addi %21, %cst_8_i64_19 : tile<i64>
  %23 = mini %22, %1 signed : tile<i64>
  %24 = subi %1, %21 : tile<i64>
  %cst_0_i64_20 = constant <i64: 0> : tile<i64>
  %25 = maxi %24, %cst_0_i64_20 signed : tile<i64>
  %cst_8_i64_21 = constant <i64: 8> : tile<i64>
  %26 = mini %25, %cst_8_i64_21 signed : tile<i64>
  %27 = trunci %26 : tile<i64> -> tile<i32>
  %28 = muli %6, %arg15 : tile<i32>
  %29 = addi %28, %5 : tile<i32>
  %30 = exti %29 signed : tile<i32> -> tile<i64>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast = broadcast %reshape : tile<1x1xf32> -> tile<4x8xf32>
  %cst_0_i64_22 = constant <i64: 0> : tile<i64>
  %31 = maxi %2, %cst_0_i64_22 signed : tile<i64>
  %32 = trunci %31 : tile<i64> -> tile<i32>
  %cst_8_i32 = constant <i32: 8> : tile<i32>
  %33 = divi %32, %cst_8_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for = for %loopIdx in (%cst_0_i32 to %33, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast) -> (tile<4x8xf32>) {
    %49 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_8_i64_39 = constant <i64: 8> : tile<i64>
    %50 = muli %49, %cst_8_i64_39 : tile<i64>
    %cst_8_i64_40 = constant <i64: 8> : tile<i64>
    %51 = addi %50, %cst_8_i64_40 : tile<i64>
    %52 = mini %51, %2 signed : tile<i64>
    %53 = subi %2, %50 : tile<i64>
    %cst_0_i64_41 = constant <i64: 0> : tile<i64>
    %54 = maxi %53, %cst_0_i64_41 signed : tile<i64>
    %cst_8_i64_42 = constant <i64: 8> : tile<i64>
    %55 = mini %54, %cst_8_i64_42 signed : tile<i64>
    %56 = trunci %55 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_6, shape = [%assume, %assume_1], strides = [%assume_7, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %sview = make_strided_view %tview : strided_view<tile=(4x8), traversal_strides=[1,8], padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %57 = trunci %result : tile<i64> -> tile<i32>
    %tile, %result_token_43 = load_view_tko weak %sview[%57, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : strided_view<tile=(4x8), traversal_strides=[1,8], padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x8xf32>, token
    %tview_44 = make_tensor_view %assume_8, shape = [%assume_assume, %assume_1, %assume_0], strides = [%assume_9, %assume_10, 1] : tile<i32> -> tensor_view<?x?x?xf32, strides=[?,?,1]>
    %pview = make_partition_view %tview_44 : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<?x?x?xf32, strides=[?,?,1]>>
    %58 = trunci %result_16 : tile<i64> -> tile<i32>
    %tile_45, %result_token_46 = load_view_tko weak %pview[%58, %loopIdx, %5] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<?x?x?xf32, strides=[?,?,1]>>, tile<i32> -> tile<1x8x8xf32>, token
    %reshape_47 = reshape %tile_45 : tile<1x8x8xf32> -> tile<8x8xf32>
    %59 = iota : tile<8xi32>
    %reshape_48 = reshape %56 : tile<i32> -> tile<1xi32>
    %bcast_49 = broadcast %reshape_48 : tile<1xi32> -> tile<8xi32>
    %60 = cmpi less_than %59, %bcast_49, signed : tile<8xi32> -> tile<8xi1>
    %reshape_50 = reshape %60 : tile<8xi1> -> tile<1x8xi1>
    %bcast_51 = broadcast %reshape_50 : tile<1x8xi1> -> tile<4x8xi1>
    %cst_0_f32_52 = constant <f32: 0.000000e+00> : tile<4x8xf32>
    %61 = select %bcast_51, %tile, %cst_0_f32_52 : tile<4x8xi1>, tile<4x8xf32>
    %62 = mmaf %61, %reshape_47, %iterArg0 : tile<4x8xf32>, tile<8x8xf32>, tile<4x8xf32>
    continue %62 : tile<4x8xf32>
  }
  %34 = iota : tile<4xi32>
  %reshape_23 = reshape %19 : tile<i32> -> tile<1xi32>
  %bcast_24 = broadcast %reshape_23 : tile<1xi32> -> tile<4xi32>
  %35 = cmpi less_than %34, %bcast_24, signed : tile<4xi32> -> tile<4xi1>
  %reshape_25 = reshape %35 : tile<4xi1> -> tile<4x1xi1>
  %bcast_26 = broadcast %reshape_25 : tile<4x1xi1> -> tile<4x8xi1>
  %36 = iota : tile<8xi32>
  %reshape_27 = reshape %27 : tile<i32> -> tile<1xi32>
  %bcast_28 = broadcast %reshape_27 : tile<1xi32> -> tile<8xi32>
  %37 = cmpi less_than %36, %bcast_28, signed : tile<8xi32> -> tile<8xi1>
  %reshape_29 = reshape %37 : tile<8xi1> -> tile<1x8xi1>
  %bcast_30 = broadcast %reshape_29 : tile<1x8xi1> -> tile<4x8xi1>
  %38 = andi %bcast_26, %bcast_30 : tile<4x8xi1>
  %39 = exti %assume_5 signed : tile<i32> -> tile<i64>
  %40 = muli %result, %39 : tile<i64>
  %41 = addi %40, %21 : tile<i64>
  %42 = offset %assume_4, %41 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %43 = iota : tile<4xi32>
  %reshape_31 = reshape %assume_5 : tile<i32> -> tile<1xi32>
  %bcast_32 = broadcast %reshape_31 : tile<1xi32> -> tile<4xi32>
  %44 = muli %43, %bcast_32 : tile<4xi32>
  %reshape_33 = reshape %44 : tile<4xi32> -> tile<4x1xi32>
  %bcast_34 = broadcast %reshape_33 : tile<4x1xi32> -> tile<4x8xi32>
  %45 = iota : tile<8xi32>
  %reshape_35 = reshape %45 : tile<8xi32> -> tile<1x8xi32>
  %bcast_36 = broadcast %reshape_35 : tile<1x8xi32> -> tile<4x8xi32>
  %46 = addi %bcast_34, %bcast_36 : tile<4x8xi32>
  %reshape_37 = reshape %42 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bcast_38 = broadcast %reshape_37 : tile<1x1xptr<f32>> -> tile<4x8xptr<f32>>
  %47 = offset %bcast_38, %46 : tile<4x8xptr<f32>>, tile<4x8xi32> -> tile<4x8xptr<f32>>
  %48 = store_ptr_tko weak %47, %for, %38 : tile<4x8xptr<f32>>, tile<4x8xf32>, tile<4x8xi1> -> token
  return
}
