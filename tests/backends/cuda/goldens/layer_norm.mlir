// Producer: tileproof
entry @layer_norm(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<ptr<f32>>, %arg4: tile<i32>, %arg5: tile<f32>, %arg6: tile<i32>, %arg7: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg4 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_1 = assume div_by<16>, %arg1 : tile<ptr<f32>>
  %assume_2 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_3 = assume div_by<16>, %arg3 : tile<ptr<f32>>
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
  %reduce = reduce %reshape dim=0 identities=[0.000000e+00 : f32] : tile<64xf32> -> tile<f32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %16 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
    yield %16 : tile<f32>
  }
  %cst_f32 = constant <f32: 2.500000e-02> : tile<f32>
  %4 = mulf %reduce, %cst_f32  : tile<f32>
  %reshape_4 = reshape %4 : tile<f32> -> tile<1xf32>
  %bcast = broadcast %reshape_4 : tile<1xf32> -> tile<64xf32>
  %5 = subf %reshape, %bcast  : tile<64xf32>
  %6 = mulf %5, %5  : tile<64xf32>
  %7 = iota : tile<64xi32>
  %cst_40_i32 = constant <i32: 40> : tile<i32>
  %reshape_5 = reshape %cst_40_i32 : tile<i32> -> tile<1xi32>
  %bcast_6 = broadcast %reshape_5 : tile<1xi32> -> tile<64xi32>
  %8 = cmpi less_than %7, %bcast_6, signed : tile<64xi32> -> tile<64xi1>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<64xf32>
  %9 = select %8, %6, %cst_0_f32 : tile<64xi1>, tile<64xf32>
  %reduce_7 = reduce %9 dim=0 identities=[0.000000e+00 : f32] : tile<64xf32> -> tile<f32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %16 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
    yield %16 : tile<f32>
  }
  %cst_f32_8 = constant <f32: 2.500000e-02> : tile<f32>
  %10 = mulf %reduce_7, %cst_f32_8  : tile<f32>
  %11 = addf %10, %arg5  : tile<f32>
  %12 = rsqrt %11 : tile<f32>
  %reshape_9 = reshape %12 : tile<f32> -> tile<1xf32>
  %bcast_10 = broadcast %reshape_9 : tile<1xf32> -> tile<64xf32>
  %13 = mulf %5, %bcast_10  : tile<64xf32>
  %tview_11 = make_tensor_view %assume_2, shape = [40], strides = [1] : tensor_view<40xf32, strides=[1]>
  %pview_12 = make_partition_view %tview_11 : partition_view<tile=(64), padding_value = zero, tensor_view<40xf32, strides=[1]>>
  %cst_0_i32_13 = constant <i32: 0> : tile<i32>
  %tile_14, %result_token_15 = load_view_tko weak %pview_12[%cst_0_i32_13] : partition_view<tile=(64), padding_value = zero, tensor_view<40xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
  %tview_16 = make_tensor_view %assume_3, shape = [40], strides = [1] : tensor_view<40xf32, strides=[1]>
  %pview_17 = make_partition_view %tview_16 : partition_view<tile=(64), padding_value = zero, tensor_view<40xf32, strides=[1]>>
  %cst_0_i32_18 = constant <i32: 0> : tile<i32>
  %tile_19, %result_token_20 = load_view_tko weak %pview_17[%cst_0_i32_18] : partition_view<tile=(64), padding_value = zero, tensor_view<40xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
  %14 = fma %13, %tile_14, %tile_19  : tile<64xf32>
  %reshape_21 = reshape %14 : tile<64xf32> -> tile<1x64xf32>
  %tview_22 = make_tensor_view %assume_0, shape = [%assume, 40], strides = [40, 1] : tile<i32> -> tensor_view<?x40xf32, strides=[40,1]>
  %pview_23 = make_partition_view %tview_22 : partition_view<tile=(1x64), tensor_view<?x40xf32, strides=[40,1]>>
  %cst_0_i32_24 = constant <i32: 0> : tile<i32>
  %15 = store_view_tko weak %reshape_21, %pview_23[%blockId_x, %cst_0_i32_24] : tile<1x64xf32>, partition_view<tile=(1x64), tensor_view<?x40xf32, strides=[40,1]>>, tile<i32> -> token
  return
}
