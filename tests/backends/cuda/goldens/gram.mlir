// Producer: tileproof
entry @gram(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg4 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg5 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_2 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_3 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_4 = assume bounded<0, ?>, %arg3 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %2 = remi %blockId_x, %arg7 signed : tile<i32>
  %3 = divi %blockId_x, %arg7 signed : tile<i32>
  %4 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_8_i64 = constant <i64: 8> : tile<i64>
  %5 = muli %4, %cst_8_i64 : tile<i64>
  %cst_8_i64_5 = constant <i64: 8> : tile<i64>
  %6 = addi %5, %cst_8_i64_5 : tile<i64>
  %7 = mini %6, %0 signed : tile<i64>
  %8 = subi %0, %5 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %9 = maxi %8, %cst_0_i64 signed : tile<i64>
  %cst_8_i64_6 = constant <i64: 8> : tile<i64>
  %10 = mini %9, %cst_8_i64_6 signed : tile<i64>
  %11 = trunci %10 : tile<i64> -> tile<i32>
  %12 = exti %2 signed : tile<i32> -> tile<i64>
  %cst_8_i64_7 = constant <i64: 8> : tile<i64>
  %13 = muli %12, %cst_8_i64_7 : tile<i64>
  %cst_8_i64_8 = constant <i64: 8> : tile<i64>
  %14 = addi %13, %cst_8_i64_8 : tile<i64>
  %15 = mini %14, %0 signed : tile<i64>
  %16 = subi %0, %13 : tile<i64>
  %cst_0_i64_9 = constant <i64: 0> : tile<i64>
  %17 = maxi %16, %cst_0_i64_9 signed : tile<i64>
  %cst_8_i64_10 = constant <i64: 8> : tile<i64>
  %18 = mini %17, %cst_8_i64_10 signed : tile<i64>
  %19 = trunci %18 : tile<i64> -> tile<i32>
  %20 = muli %3, %arg7 : tile<i32>
  %21 = addi %20, %2 : tile<i32>
  %22 = exti %21 signed : tile<i32> -> tile<i64>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast = broadcast %reshape : tile<1x1xf32> -> tile<8x8xf32>
  %cst_0_i64_11 = constant <i64: 0> : tile<i64>
  %23 = maxi %1, %cst_0_i64_11 signed : tile<i64>
  %24 = trunci %23 : tile<i64> -> tile<i32>
  %cst_16_i32 = constant <i32: 16> : tile<i32>
  %25 = divi %24, %cst_16_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for = for %loopIdx in (%cst_0_i32 to %25, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast) -> (tile<8x8xf32>) {
    %27 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_16_i64 = constant <i64: 16> : tile<i64>
    %28 = muli %27, %cst_16_i64 : tile<i64>
    %cst_16_i64_12 = constant <i64: 16> : tile<i64>
    %29 = addi %28, %cst_16_i64_12 : tile<i64>
    %30 = mini %29, %1 signed : tile<i64>
    %31 = subi %1, %28 : tile<i64>
    %cst_0_i64_13 = constant <i64: 0> : tile<i64>
    %32 = maxi %31, %cst_0_i64_13 signed : tile<i64>
    %cst_16_i64_14 = constant <i64: 16> : tile<i64>
    %33 = mini %32, %cst_16_i64_14 signed : tile<i64>
    %34 = trunci %33 : tile<i64> -> tile<i32>
    %tview_15 = make_tensor_view %assume_3, shape = [%assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_16 = make_partition_view %tview_15 : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview_16[%3, %loopIdx] : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
    %tview_17 = make_tensor_view %assume_3, shape = [%assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_18 = make_partition_view %tview_17 : partition_view<tile=(16x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>, dim_map=[1, 0]>
    %tile_19, %result_token_20 = load_view_tko weak %pview_18[%loopIdx, %2] : partition_view<tile=(16x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> tile<16x8xf32>, token
    %35 = mmaf %tile, %tile_19, %iterArg0 : tile<8x16xf32>, tile<16x8xf32>, tile<8x8xf32>
    continue %35 : tile<8x8xf32>
  }
  %tview = make_tensor_view %assume_1, shape = [%assume, %assume], strides = [%assume_2, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %pview = make_partition_view %tview : partition_view<tile=(8x8), tensor_view<?x?xf32, strides=[?,1]>>
  %26 = store_view_tko weak %for, %pview[%3, %2] : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  return
}
