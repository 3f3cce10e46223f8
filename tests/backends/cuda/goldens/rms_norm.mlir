// Producer: tileproof
entry @rms_norm(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<f32>, %arg5: tile<i32>, %arg6: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg3 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_1 = assume div_by<16>, %arg1 : tile<ptr<f32>>
  %assume_2 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %2 = addi %1, %cst_1_i64 : tile<i64>
  %3 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %tview = make_tensor_view %assume_1, shape = [%assume, 40], strides = [40, 1] : tile<i32> -> tensor_view<?x40xf32, strides=[40,1]>
  %pview = make_partition_view %tview : partition_view<tile=(1x64), padding_value = zero, tensor_view<?x40xf32, strides=[40,1]>>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %tile, %result_token = load_view_tko weak %pview[%blockId_x, %cst_0_i32] : partition_view<tile=(1x64), padding_value = zero, tensor_view<?x40xf32, strides=[40,1]>>, tile<i32> -> tile<1x64xf32>, token
  %reshape = reshape %tile : tile<1x64xf32> -> tile<64xf32>
  %4 = mulf %reshape, %reshape  : tile<64xf32>
  %5 = iota : tile<64xi32>
  %cst_40_i32 = constant <i32: 40> : tile<i32>
  %reshape_3 = reshape %cst_40_i32 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape_3 : tile<1xi32> -> tile<64xi32>
  %6 = cmpi less_than %5, %bcast, signed : tile<64xi32> -> tile<64xi1>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<64xf32>
  %7 = select %6, %4, %cst_0_f32 : tile<64xi1>, tile<64xf32>
  %reduce = reduce %7 dim=0 identities=[0.000000e+00 : f32] : tile<64xf32> -> tile<f32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %14 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
    yield %14 : tile<f32>
  }
  %cst_f32 = constant <f32: 2.500000e-02> : tile<f32>
  %8 = mulf %reduce, %cst_f32  : tile<f32>
  %9 = addf %8, %arg4  : tile<f32>
  %10 = rsqrt %9 : tile<f32>
  %reshape_4 = reshape %10 : tile<f32> -> tile<1xf32>
  %bcast_5 = broadcast %reshape_4 : tile<1xf32> -> tile<64xf32>
  %11 = mulf %reshape, %bcast_5  : tile<64xf32>
  %tview_6 = make_tensor_view %assume_2, shape = [40], strides = [1] : tensor_view<40xf32, strides=[1]>
  %pview_7 = make_partition_view %tview_6 : partition_view<tile=(64), padding_value = zero, tensor_view<40xf32, strides=[1]>>
  %cst_0_i32_8 = constant <i32: 0> : tile<i32>
  %tile_9, %result_token_10 = load_view_tko weak %pview_7[%cst_0_i32_8] : partition_view<tile=(64), padding_value = zero, tensor_view<40xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
  %12 = mulf %11, %tile_9  : tile<64xf32>
  %reshape_11 = reshape %12 : tile<64xf32> -> tile<1x64xf32>
  %tview_12 = make_tensor_view %assume_0, shape = [%assume, 40], strides = [40, 1] : tile<i32> -> tensor_view<?x40xf32, strides=[40,1]>
  %pview_13 = make_partition_view %tview_12 : partition_view<tile=(1x64), tensor_view<?x40xf32, strides=[40,1]>>
  %cst_0_i32_14 = constant <i32: 0> : tile<i32>
  %13 = store_view_tko weak %reshape_11, %pview_13[%blockId_x, %cst_0_i32_14] : tile<1x64xf32>, partition_view<tile=(1x64), tensor_view<?x40xf32, strides=[40,1]>>, tile<i32> -> token
  return
}
