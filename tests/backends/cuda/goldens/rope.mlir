// Producer: tileproof
entry @rope(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<f32>>, %arg5: tile<ptr<f32>>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg6 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg7 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_2 = assume div_by<4>, %arg1 : tile<i32>
  %assume_assume = assume bounded<0, ?>, %assume_2 : tile<i32>
  %assume_3 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_4 = assume div_by<4>, %arg3 : tile<i32>
  %assume_assume_5 = assume bounded<0, ?>, %assume_4 : tile<i32>
  %assume_6 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_7 = assume div_by<16>, %arg5 : tile<ptr<f32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %2 = remi %blockId_x, %arg9 signed : tile<i32>
  %3 = divi %blockId_x, %arg9 signed : tile<i32>
  %4 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %5 = addi %4, %cst_1_i64 : tile<i64>
  %6 = exti %2 signed : tile<i32> -> tile<i64>
  %cst_1_i64_8 = constant <i64: 1> : tile<i64>
  %7 = addi %6, %cst_1_i64_8 : tile<i64>
  %8 = muli %3, %arg9 : tile<i32>
  %9 = addi %8, %2 : tile<i32>
  %10 = exti %9 signed : tile<i32> -> tile<i64>
  %tview = make_tensor_view %assume_3, shape = [%assume, %assume_0, 2, 6], strides = [%assume_assume_5, 12, 6, 1] : tile<i32> -> tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>
  %pview = make_partition_view %tview : partition_view<tile=(1x1x1x8), padding_value = zero, tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_0_i32_9 = constant <i32: 0> : tile<i32>
  %tile, %result_token = load_view_tko weak %pview[%3, %2, %cst_0_i32, %cst_0_i32_9] : partition_view<tile=(1x1x1x8), padding_value = zero, tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>>, tile<i32> -> tile<1x1x1x8xf32>, token
  %reshape = reshape %tile : tile<1x1x1x8xf32> -> tile<8xf32>
  %tview_10 = make_tensor_view %assume_3, shape = [%assume, %assume_0, 2, 6], strides = [%assume_assume_5, 12, 6, 1] : tile<i32> -> tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>
  %pview_11 = make_partition_view %tview_10 : partition_view<tile=(1x1x1x8), padding_value = zero, tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_0_i32_12 = constant <i32: 0> : tile<i32>
  %tile_13, %result_token_14 = load_view_tko weak %pview_11[%3, %2, %cst_1_i32, %cst_0_i32_12] : partition_view<tile=(1x1x1x8), padding_value = zero, tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>>, tile<i32> -> tile<1x1x1x8xf32>, token
  %reshape_15 = reshape %tile_13 : tile<1x1x1x8xf32> -> tile<8xf32>
  %tview_16 = make_tensor_view %assume_6, shape = [%assume, 6], strides = [6, 1] : tile<i32> -> tensor_view<?x6xf32, strides=[6,1]>
  %pview_17 = make_partition_view %tview_16 : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>
  %cst_0_i32_18 = constant <i32: 0> : tile<i32>
  %tile_19, %result_token_20 = load_view_tko weak %pview_17[%3, %cst_0_i32_18] : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>, tile<i32> -> tile<1x8xf32>, token
  %reshape_21 = reshape %tile_19 : tile<1x8xf32> -> tile<8xf32>
  %tview_22 = make_tensor_view %assume_7, shape = [%assume, 6], strides = [6, 1] : tile<i32> -> tensor_view<?x6xf32, strides=[6,1]>
  %pview_23 = make_partition_view %tview_22 : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>
  %cst_0_i32_24 = constant <i32: 0> : tile<i32>
  %tile_25, %result_token_26 = load_view_tko weak %pview_23[%3, %cst_0_i32_24] : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>, tile<i32> -> tile<1x8xf32>, token
  %reshape_27 = reshape %tile_25 : tile<1x8xf32> -> tile<8xf32>
  %11 = mulf %reshape_15, %reshape_27  : tile<8xf32>
  %12 = negf %11 : tile<8xf32>
  %13 = fma %reshape, %reshape_21, %12  : tile<8xf32>
  %reshape_28 = reshape %13 : tile<8xf32> -> tile<1x1x1x8xf32>
  %tview_29 = make_tensor_view %assume_1, shape = [%assume, %assume_0, 2, 6], strides = [%assume_assume, 12, 6, 1] : tile<i32> -> tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>
  %pview_30 = make_partition_view %tview_29 : partition_view<tile=(1x1x1x8), tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>>
  %cst_0_i32_31 = constant <i32: 0> : tile<i32>
  %cst_0_i32_32 = constant <i32: 0> : tile<i32>
  %14 = store_view_tko weak %reshape_28, %pview_30[%3, %2, %cst_0_i32_31, %cst_0_i32_32] : tile<1x1x1x8xf32>, partition_view<tile=(1x1x1x8), tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>>, tile<i32> -> token
  %tview_33 = make_tensor_view %assume_6, shape = [%assume, 6], strides = [6, 1] : tile<i32> -> tensor_view<?x6xf32, strides=[6,1]>
  %pview_34 = make_partition_view %tview_33 : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>
  %cst_0_i32_35 = constant <i32: 0> : tile<i32>
  %tile_36, %result_token_37 = load_view_tko weak %pview_34[%3, %cst_0_i32_35] : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>, tile<i32> -> tile<1x8xf32>, token
  %reshape_38 = reshape %tile_36 : tile<1x8xf32> -> tile<8xf32>
  %tview_39 = make_tensor_view %assume_7, shape = [%assume, 6], strides = [6, 1] : tile<i32> -> tensor_view<?x6xf32, strides=[6,1]>
  %pview_40 = make_partition_view %tview_39 : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>
  %cst_0_i32_41 = constant <i32: 0> : tile<i32>
  %tile_42, %result_token_43 = load_view_tko weak %pview_40[%3, %cst_0_i32_41] : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>, tile<i32> -> tile<1x8xf32>, token
  %reshape_44 = reshape %tile_42 : tile<1x8xf32> -> tile<8xf32>
  %15 = mulf %reshape, %reshape_44  : tile<8xf32>
  %16 = fma %reshape_15, %reshape_38, %15  : tile<8xf32>
  %reshape_45 = reshape %16 : tile<8xf32> -> tile<1x1x1x8xf32>
  %tview_46 = make_tensor_view %assume_1, shape = [%assume, %assume_0, 2, 6], strides = [%assume_assume, 12, 6, 1] : tile<i32> -> tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>
  %pview_47 = make_partition_view %tview_46 : partition_view<tile=(1x1x1x8), tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>>
  %cst_1_i32_48 = constant <i32: 1> : tile<i32>
  %cst_0_i32_49 = constant <i32: 0> : tile<i32>
  %17 = store_view_tko weak %reshape_45, %pview_47[%3, %2, %cst_1_i32_48, %cst_0_i32_49] token = %14 : tile<1x1x1x8xf32>, partition_view<tile=(1x1x1x8), tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>>, tile<i32> -> token
  return
}
