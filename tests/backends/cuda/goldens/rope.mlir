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
  %tile, %result_token = load_view_tko weak %pview[%3, %2, %cst_0_i32, %cst_0_i32_9] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x1x1x8), padding_value = zero, tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>>, tile<i32> -> tile<1x1x1x8xf32>, token
  %reshape = reshape %tile : tile<1x1x1x8xf32> -> tile<8xf32>
  %tview_10 = make_tensor_view %assume_3, shape = [%assume, %assume_0, 2, 6], strides = [%assume_assume_5, 12, 6, 1] : tile<i32> -> tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>
  %pview_11 = make_partition_view %tview_10 : partition_view<tile=(1x1x1x8), padding_value = zero, tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_0_i32_12 = constant <i32: 0> : tile<i32>
  %tile_13, %result_token_14 = load_view_tko weak %pview_11[%3, %2, %cst_1_i32, %cst_0_i32_12] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x1x1x8), padding_value = zero, tensor_view<?x?x2x6xf32, strides=[?,12,6,1]>>, tile<i32> -> tile<1x1x1x8xf32>, token
  %reshape_15 = reshape %tile_13 : tile<1x1x1x8xf32> -> tile<8xf32>
  %tview_16 = make_tensor_view %assume_6, shape = [%assume, 6], strides = [6, 1] : tile<i32> -> tensor_view<?x6xf32, strides=[6,1]>
  %pview_17 = make_partition_view %tview_16 : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>
  %cst_0_i32_18 = constant <i32: 0> : tile<i32>
  %tile_19, %result_token_20 = load_view_tko weak %pview_17[%3, %cst_0_i32_18] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>, tile<i32> -> tile<1x8xf32>, token
  %reshape_21 = reshape %tile_19 : tile<1x8xf32> -> tile<8xf32>
  %tview_22 = make_tensor_view %assume_7, shape = [%assume, 6], strides = [6, 1] : tile<i32> -> tensor_view<?x6xf32, strides=[6,1]>
  %pview_23 = make_partition_view %tview_22 : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>
  %cst_0_i32_24 = constant <i32: 0> : tile<i32>
  %tile_25, %result_token_26 = load_view_tko weak %pview_23[%3, %cst_0_i32_24] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>, tile<i32> -> tile<1x8xf32>, token
  %reshape_27 = reshape %tile_25 : tile<1x8xf32> -> tile<8xf32>
  %11 = mulf %reshape_15, %reshape_27  : tile<8xf32>
  %12 = negf %11 : tile<8xf32>
  %13 = fma %reshape, %reshape_21, %12  : tile<8xf32>
  %14 = iota : tile<8xi32>
  %cst_6_i32 = constant <i32: 6> : tile<i32>
  %reshape_28 = reshape %cst_6_i32 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape_28 : tile<1xi32> -> tile<8xi32>
  %15 = cmpi less_than %14, %bcast, signed : tile<8xi32> -> tile<8xi1>
  %16 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %17 = muli %4, %16 : tile<i64>
  %cst_12_i64 = constant <i64: 12> : tile<i64>
  %18 = muli %6, %cst_12_i64 : tile<i64>
  %19 = addi %17, %18 : tile<i64>
  %20 = offset %assume_1, %19 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %21 = iota : tile<8xi32>
  %reshape_29 = reshape %20 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_30 = broadcast %reshape_29 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %22 = offset %bcast_30, %21 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %23 = store_ptr_tko weak %22, %13, %15 : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  %tview_31 = make_tensor_view %assume_6, shape = [%assume, 6], strides = [6, 1] : tile<i32> -> tensor_view<?x6xf32, strides=[6,1]>
  %pview_32 = make_partition_view %tview_31 : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>
  %cst_0_i32_33 = constant <i32: 0> : tile<i32>
  %tile_34, %result_token_35 = load_view_tko weak %pview_32[%3, %cst_0_i32_33] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>, tile<i32> -> tile<1x8xf32>, token
  %reshape_36 = reshape %tile_34 : tile<1x8xf32> -> tile<8xf32>
  %tview_37 = make_tensor_view %assume_7, shape = [%assume, 6], strides = [6, 1] : tile<i32> -> tensor_view<?x6xf32, strides=[6,1]>
  %pview_38 = make_partition_view %tview_37 : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>
  %cst_0_i32_39 = constant <i32: 0> : tile<i32>
  %tile_40, %result_token_41 = load_view_tko weak %pview_38[%3, %cst_0_i32_39] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x6xf32, strides=[6,1]>>, tile<i32> -> tile<1x8xf32>, token
  %reshape_42 = reshape %tile_40 : tile<1x8xf32> -> tile<8xf32>
  %24 = mulf %reshape, %reshape_42  : tile<8xf32>
  %25 = fma %reshape_15, %reshape_36, %24  : tile<8xf32>
  %26 = iota : tile<8xi32>
  %cst_6_i32_43 = constant <i32: 6> : tile<i32>
  %reshape_44 = reshape %cst_6_i32_43 : tile<i32> -> tile<1xi32>
  %bcast_45 = broadcast %reshape_44 : tile<1xi32> -> tile<8xi32>
  %27 = cmpi less_than %26, %bcast_45, signed : tile<8xi32> -> tile<8xi1>
  %28 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %29 = muli %4, %28 : tile<i64>
  %cst_12_i64_46 = constant <i64: 12> : tile<i64>
  %30 = muli %6, %cst_12_i64_46 : tile<i64>
  %31 = addi %29, %30 : tile<i64>
  %cst_6_i64 = constant <i64: 6> : tile<i64>
  %32 = addi %31, %cst_6_i64 : tile<i64>
  %33 = offset %assume_1, %32 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %34 = iota : tile<8xi32>
  %reshape_47 = reshape %33 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_48 = broadcast %reshape_47 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %35 = offset %bcast_48, %34 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %36 = store_ptr_tko weak %35, %25, %27 token=%23 : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  return
}
