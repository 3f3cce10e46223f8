// Producer: tileproof
entry @cumsum(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg4 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg5 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_2 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_3 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_4 = assume bounded<0, ?>, %arg3 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %2 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %3 = addi %2, %cst_1_i64 : tile<i64>
  %4 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %5 = maxi %1, %cst_0_i64 signed : tile<i64>
  %6 = trunci %5 : tile<i64> -> tile<i32>
  %cst_8_i32 = constant <i32: 8> : tile<i32>
  %7 = divi %6, %cst_8_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for = for %loopIdx in (%cst_0_i32 to %7, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %cst_0_f32) -> (tile<f32>) {
    %8 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_8_i64 = constant <i64: 8> : tile<i64>
    %9 = muli %8, %cst_8_i64 : tile<i64>
    %cst_8_i64_5 = constant <i64: 8> : tile<i64>
    %10 = addi %9, %cst_8_i64_5 : tile<i64>
    %11 = mini %10, %1 signed : tile<i64>
    %12 = subi %1, %9 : tile<i64>
    %cst_0_i64_6 = constant <i64: 0> : tile<i64>
    %13 = maxi %12, %cst_0_i64_6 signed : tile<i64>
    %cst_8_i64_7 = constant <i64: 8> : tile<i64>
    %14 = mini %13, %cst_8_i64_7 signed : tile<i64>
    %15 = trunci %14 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_3, shape = [%assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%blockId_x, %loopIdx] : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x8xf32>, token
    %reshape = reshape %tile : tile<1x8xf32> -> tile<8xf32>
    %16 = scan %reshape dim=0 reverse=false identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<8xf32> 
    (%arg8: tile<f32>, %arg9: tile<f32>) {
      %20 = addf %arg9, %arg8  : tile<f32>
      yield %20 : tile<f32>
    }
    %reshape_8 = reshape %iterArg0 : tile<f32> -> tile<1xf32>
    %bcast = broadcast %reshape_8 : tile<1xf32> -> tile<8xf32>
    %17 = addf %bcast, %16  : tile<8xf32>
    %reshape_9 = reshape %17 : tile<8xf32> -> tile<1x8xf32>
    %tview_10 = make_tensor_view %assume_1, shape = [%assume, %assume_0], strides = [%assume_2, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_11 = make_partition_view %tview_10 : partition_view<tile=(1x8), tensor_view<?x?xf32, strides=[?,1]>>
    %18 = store_view_tko weak %reshape_9, %pview_11[%blockId_x, %loopIdx] : tile<1x8xf32>, partition_view<tile=(1x8), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
    %tview_12 = make_tensor_view %assume_3, shape = [%assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_13 = make_partition_view %tview_12 : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_14, %result_token_15 = load_view_tko weak %pview_13[%blockId_x, %loopIdx] : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x8xf32>, token
    %reshape_16 = reshape %tile_14 : tile<1x8xf32> -> tile<8xf32>
    %reduce = reduce %reshape_16 dim=0 identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %20 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %20 : tile<f32>
    }
    %19 = addf %iterArg0, %reduce  : tile<f32>
    continue %19 : tile<f32>
  }
  return
}
