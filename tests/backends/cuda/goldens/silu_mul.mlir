// Producer: tileproof
entry @silu_mul(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<f32>>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>, %arg11: tile<i32>, %arg12: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg7 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg8 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume bounded<0, ?>, %arg9 : tile<i32>
  %2 = exti %assume_1 signed : tile<i32> -> tile<i64>
  %assume_2 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_3 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_4 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_5 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_6 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_7 = assume bounded<0, ?>, %arg5 : tile<i32>
  %assume_8 = assume bounded<0, ?>, %arg6 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %3 = remi %blockId_x, %arg11 signed : tile<i32>
  %4 = divi %blockId_x, %arg11 signed : tile<i32>
  %5 = exti %4 signed : tile<i32> -> tile<i64>
  %cst_4_i64 = constant <i64: 4> : tile<i64>
  %6 = muli %5, %cst_4_i64 : tile<i64>
  %cst_4_i64_9 = constant <i64: 4> : tile<i64>
  %7 = addi %6, %cst_4_i64_9 : tile<i64>
  %8 = mini %7, %0 signed : tile<i64>
  %9 = subi %0, %6 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %10 = maxi %9, %cst_0_i64 signed : tile<i64>
  %cst_4_i64_10 = constant <i64: 4> : tile<i64>
  %11 = mini %10, %cst_4_i64_10 signed : tile<i64>
  %12 = trunci %11 : tile<i64> -> tile<i32>
  %13 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_8_i64 = constant <i64: 8> : tile<i64>
  %14 = muli %13, %cst_8_i64 : tile<i64>
  %cst_8_i64_11 = constant <i64: 8> : tile<i64>
  %15 = addi %14, %cst_8_i64_11 : tile<i64>
  %16 = mini %15, %1 signed : tile<i64>
  %17 = subi %1, %14 : tile<i64>
  %cst_0_i64_12 = constant <i64: 0> : tile<i64>
  %18 = maxi %17, %cst_0_i64_12 signed : tile<i64>
  %cst_8_i64_13 = constant <i64: 8> : tile<i64>
  %19 = mini %18, %cst_8_i64_13 signed : tile<i64>
  %20 = trunci %19 : tile<i64> -> tile<i32>
  %21 = muli %4, %arg11 : tile<i32>
  %22 = addi %21, %3 : tile<i32>
  %23 = exti %22 signed : tile<i32> -> tile<i64>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast = broadcast %reshape : tile<1x1xf32> -> tile<4x8xf32>
  %reshape_14 = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast_15 = broadcast %reshape_14 : tile<1x1xf32> -> tile<4x8xf32>
  %cst_0_i64_16 = constant <i64: 0> : tile<i64>
  %24 = maxi %2, %cst_0_i64_16 signed : tile<i64>
  %25 = trunci %24 : tile<i64> -> tile<i32>
  %cst_8_i32 = constant <i32: 8> : tile<i32>
  %26 = divi %25, %cst_8_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for:2 = for %loopIdx in (%cst_0_i32 to %26, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast, %iterArg1 = %bcast_15) -> (tile<4x8xf32>, tile<4x8xf32>) {
    %37 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_8_i64_19 = constant <i64: 8> : tile<i64>
    %38 = muli %37, %cst_8_i64_19 : tile<i64>
    %cst_8_i64_20 = constant <i64: 8> : tile<i64>
    %39 = addi %38, %cst_8_i64_20 : tile<i64>
    %40 = mini %39, %2 signed : tile<i64>
    %41 = subi %2, %38 : tile<i64>
    %cst_0_i64_21 = constant <i64: 0> : tile<i64>
    %42 = maxi %41, %cst_0_i64_21 signed : tile<i64>
    %cst_8_i64_22 = constant <i64: 8> : tile<i64>
    %43 = mini %42, %cst_8_i64_22 signed : tile<i64>
    %44 = trunci %43 : tile<i64> -> tile<i32>
    %tview_23 = make_tensor_view %assume_4, shape = [%assume, %assume_1], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_24 = make_partition_view %tview_23 : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview_24[%4, %loopIdx] : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x8xf32>, token
    %tview_25 = make_tensor_view %assume_6, shape = [2, %assume_0, %assume_1], strides = [%assume_7, %assume_8, 1] : tile<i32> -> tensor_view<2x?x?xf32, strides=[?,?,1]>
    %pview_26 = make_partition_view %tview_25 : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>
    %cst_0_i32_27 = constant <i32: 0> : tile<i32>
    %tile_28, %result_token_29 = load_view_tko weak %pview_26[%cst_0_i32_27, %loopIdx, %3] : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>, tile<i32> -> tile<1x8x8xf32>, token
    %reshape_30 = reshape %tile_28 : tile<1x8x8xf32> -> tile<8x8xf32>
    %45 = mmaf %tile, %reshape_30, %iterArg0 : tile<4x8xf32>, tile<8x8xf32>, tile<4x8xf32>
    %tview_31 = make_tensor_view %assume_4, shape = [%assume, %assume_1], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_32 = make_partition_view %tview_31 : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_33, %result_token_34 = load_view_tko weak %pview_32[%4, %loopIdx] : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x8xf32>, token
    %tview_35 = make_tensor_view %assume_6, shape = [2, %assume_0, %assume_1], strides = [%assume_7, %assume_8, 1] : tile<i32> -> tensor_view<2x?x?xf32, strides=[?,?,1]>
    %pview_36 = make_partition_view %tview_35 : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>
    %cst_1_i32_37 = constant <i32: 1> : tile<i32>
    %tile_38, %result_token_39 = load_view_tko weak %pview_36[%cst_1_i32_37, %loopIdx, %3] : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>, tile<i32> -> tile<1x8x8xf32>, token
    %reshape_40 = reshape %tile_38 : tile<1x8x8xf32> -> tile<8x8xf32>
    %46 = mmaf %tile_33, %reshape_40, %iterArg1 : tile<4x8xf32>, tile<8x8xf32>, tile<4x8xf32>
    continue %45, %46 : tile<4x8xf32>, tile<4x8xf32>
  }
  %27 = absf %for#0 : tile<4x8xf32>
  %28 = negf %27 : tile<4x8xf32>
  %29 = exp %28  : tile<4x8xf32>
  %cst_0_f32_17 = constant <f32: 0.000000e+00> : tile<4x8xf32>
  %30 = cmpf greater_than_or_equal ordered %for#0, %cst_0_f32_17 : tile<4x8xf32> -> tile<4x8xi1>
  %cst_1_f32 = constant <f32: 1.000000e+00> : tile<4x8xf32>
  %31 = select %30, %cst_1_f32, %29 : tile<4x8xi1>, tile<4x8xf32>
  %cst_1_f32_18 = constant <f32: 1.000000e+00> : tile<4x8xf32>
  %32 = addf %cst_1_f32_18, %29  : tile<4x8xf32>
  %33 = divf %31, %32 rounding<approx> : tile<4x8xf32>
  %34 = mulf %for#0, %33  : tile<4x8xf32>
  %35 = mulf %34, %for#1  : tile<4x8xf32>
  %tview = make_tensor_view %assume_2, shape = [%assume, %assume_0], strides = [%assume_3, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %pview = make_partition_view %tview : partition_view<tile=(4x8), tensor_view<?x?xf32, strides=[?,1]>>
  %36 = store_view_tko weak %35, %pview[%4, %3] : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  return
}
