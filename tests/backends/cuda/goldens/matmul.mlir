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
    %28 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_16_i64_14 = constant <i64: 16> : tile<i64>
    %29 = muli %28, %cst_16_i64_14 : tile<i64>
    %cst_16_i64_15 = constant <i64: 16> : tile<i64>
    %30 = addi %29, %cst_16_i64_15 : tile<i64>
    %31 = mini %30, %2 signed : tile<i64>
    %32 = subi %2, %29 : tile<i64>
    %cst_0_i64_16 = constant <i64: 0> : tile<i64>
    %33 = maxi %32, %cst_0_i64_16 signed : tile<i64>
    %cst_16_i64_17 = constant <i64: 16> : tile<i64>
    %34 = mini %33, %cst_16_i64_17 signed : tile<i64>
    %35 = trunci %34 : tile<i64> -> tile<i32>
    %tview_18 = make_tensor_view %assume_4, shape = [%assume, %assume_1], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_19 = make_partition_view %tview_18 : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview_19[%4, %loopIdx] : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16x16xf32>, token
    %tview_20 = make_tensor_view %assume_6, shape = [%assume_1, %assume_0], strides = [%assume_7, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_21 = make_partition_view %tview_20 : partition_view<tile=(16x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_22, %result_token_23 = load_view_tko weak %pview_21[%loopIdx, %3] : partition_view<tile=(16x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16x8xf32>, token
    %36 = mmaf %tile, %tile_22, %iterArg0 : tile<16x16xf32>, tile<16x8xf32>, tile<16x8xf32>
    continue %36 : tile<16x8xf32>
  }
  %tview = make_tensor_view %assume_2, shape = [%assume, %assume_0], strides = [%assume_3, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %pview = make_partition_view %tview : partition_view<tile=(16x8), tensor_view<?x?xf32, strides=[?,1]>>
  %27 = store_view_tko weak %for, %pview[%4, %3] : tile<16x8xf32>, partition_view<tile=(16x8), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  return
}
