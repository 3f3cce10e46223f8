// Producer: tileproof
entry @matmul(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<f32>>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>, %arg11: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg6 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg7 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume bounded<0, ?>, %arg8 : tile<i32>
  %2 = exti %assume_1 signed : tile<i32> -> tile<i64>
  %assume_2 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_3 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_4 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_5 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_6 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_7 = assume bounded<0, ?>, %arg5 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %3 = remi %blockId_x, %arg10 signed : tile<i32>
  %4 = divi %blockId_x, %arg10 signed : tile<i32>
  %5 = exti %4 signed : tile<i32> -> tile<i64>
  %cst_16_i64 = constant <i64: 16> : tile<i64>
  %6 = muli %5, %cst_16_i64 : tile<i64>
  %cst_16_i64_8 = constant <i64: 16> : tile<i64>
  %7 = addi %6, %cst_16_i64_8 : tile<i64>
  %8 = mini %7, %0 signed : tile<i64>
  %9 = subi %0, %6 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %10 = maxi %9, %cst_0_i64 signed : tile<i64>
  %cst_16_i64_9 = constant <i64: 16> : tile<i64>
  %11 = mini %10, %cst_16_i64_9 signed : tile<i64>
  %12 = trunci %11 : tile<i64> -> tile<i32>
  %13 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_8_i64 = constant <i64: 8> : tile<i64>
  %14 = muli %13, %cst_8_i64 : tile<i64>
  %cst_8_i64_10 = constant <i64: 8> : tile<i64>
  %15 = addi %14, %cst_8_i64_10 : tile<i64>
  %16 = mini %15, %1 signed : tile<i64>
  %17 = subi %1, %14 : tile<i64>
  %cst_0_i64_11 = constant <i64: 0> : tile<i64>
  %18 = maxi %17, %cst_0_i64_11 signed : tile<i64>
  %cst_8_i64_12 = constant <i64: 8> : tile<i64>
  %19 = mini %18, %cst_8_i64_12 signed : tile<i64>
  %20 = trunci %19 : tile<i64> -> tile<i32>
  %21 = muli %4, %arg10 : tile<i32>
  %22 = addi %21, %3 : tile<i32>
  %23 = exti %22 signed : tile<i32> -> tile<i64>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast = broadcast %reshape : tile<1x1xf32> -> tile<16x8xf32>
  %cst_0_i64_13 = constant <i64: 0> : tile<i64>
  %24 = maxi %2, %cst_0_i64_13 signed : tile<i64>
  %25 = trunci %24 : tile<i64> -> tile<i32>
  %cst_16_i32 = constant <i32: 16> : tile<i32>
  %26 = divi %25, %cst_16_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for = for %loopIdx in (%cst_0_i32 to %26, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast) -> (tile<16x8xf32>) {
    %42 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_16_i64_30 = constant <i64: 16> : tile<i64>
    %43 = muli %42, %cst_16_i64_30 : tile<i64>
    %cst_16_i64_31 = constant <i64: 16> : tile<i64>
    %44 = addi %43, %cst_16_i64_31 : tile<i64>
    %45 = mini %44, %2 signed : tile<i64>
    %46 = subi %2, %43 : tile<i64>
    %cst_0_i64_32 = constant <i64: 0> : tile<i64>
    %47 = maxi %46, %cst_0_i64_32 signed : tile<i64>
    %cst_16_i64_33 = constant <i64: 16> : tile<i64>
    %48 = mini %47, %cst_16_i64_33 signed : tile<i64>
    %49 = trunci %48 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_4, shape = [%assume, %assume_1], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%4, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16x16xf32>, token
    %tview_34 = make_tensor_view %assume_6, shape = [%assume_1, %assume_0], strides = [%assume_7, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_35 = make_partition_view %tview_34 : partition_view<tile=(16x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_36, %result_token_37 = load_view_tko weak %pview_35[%loopIdx, %3] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(16x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16x8xf32>, token
    %50 = mmaf %tile, %tile_36, %iterArg0 : tile<16x16xf32>, tile<16x8xf32>, tile<16x8xf32>
    continue %50 : tile<16x8xf32>
  }
  %27 = iota : tile<16xi32>
  %reshape_14 = reshape %12 : tile<i32> -> tile<1xi32>
  %bcast_15 = broadcast %reshape_14 : tile<1xi32> -> tile<16xi32>
  %28 = cmpi less_than %27, %bcast_15, signed : tile<16xi32> -> tile<16xi1>
  %reshape_16 = reshape %28 : tile<16xi1> -> tile<16x1xi1>
  %bcast_17 = broadcast %reshape_16 : tile<16x1xi1> -> tile<16x8xi1>
  %29 = iota : tile<8xi32>
  %reshape_18 = reshape %20 : tile<i32> -> tile<1xi32>
  %bcast_19 = broadcast %reshape_18 : tile<1xi32> -> tile<8xi32>
  %30 = cmpi less_than %29, %bcast_19, signed : tile<8xi32> -> tile<8xi1>
  %reshape_20 = reshape %30 : tile<8xi1> -> tile<1x8xi1>
  %bcast_21 = broadcast %reshape_20 : tile<1x8xi1> -> tile<16x8xi1>
  %31 = andi %bcast_17, %bcast_21 : tile<16x8xi1>
  %32 = exti %assume_3 signed : tile<i32> -> tile<i64>
  %33 = muli %6, %32 : tile<i64>
  %34 = addi %33, %14 : tile<i64>
  %35 = offset %assume_2, %34 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %36 = iota : tile<16xi32>
  %reshape_22 = reshape %assume_3 : tile<i32> -> tile<1xi32>
  %bcast_23 = broadcast %reshape_22 : tile<1xi32> -> tile<16xi32>
  %37 = muli %36, %bcast_23 : tile<16xi32>
  %reshape_24 = reshape %37 : tile<16xi32> -> tile<16x1xi32>
  %bcast_25 = broadcast %reshape_24 : tile<16x1xi32> -> tile<16x8xi32>
  %38 = iota : tile<8xi32>
  %reshape_26 = reshape %38 : tile<8xi32> -> tile<1x8xi32>
  %bcast_27 = broadcast %reshape_26 : tile<1x8xi32> -> tile<16x8xi32>
  %39 = addi %bcast_25, %bcast_27 : tile<16x8xi32>
  %reshape_28 = reshape %35 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bcast_29 = broadcast %reshape_28 : tile<1x1xptr<f32>> -> tile<16x8xptr<f32>>
  %40 = offset %bcast_29, %39 : tile<16x8xptr<f32>>, tile<16x8xi32> -> tile<16x8xptr<f32>>
  %41 = store_ptr_tko weak %40, %for, %31 : tile<16x8xptr<f32>>, tile<16x8xf32>, tile<16x8xi1> -> token
  return
}
