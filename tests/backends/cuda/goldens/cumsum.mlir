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
    %tile, %result_token = load_view_tko weak %pview[%blockId_x, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x8xf32>, token
    %reshape = reshape %tile : tile<1x8xf32> -> tile<8xf32>
    %16 = scan %reshape dim=0 reverse=false identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<8xf32> 
    (%arg8: tile<f32>, %arg9: tile<f32>) {
      %28 = addf %arg9, %arg8  : tile<f32>
      yield %28 : tile<f32>
    }
    %reshape_8 = reshape %iterArg0 : tile<f32> -> tile<1xf32>
    %bcast = broadcast %reshape_8 : tile<1xf32> -> tile<8xf32>
    %17 = addf %bcast, %16  : tile<8xf32>
    %18 = iota : tile<8xi32>
    %reshape_9 = reshape %15 : tile<i32> -> tile<1xi32>
    %bcast_10 = broadcast %reshape_9 : tile<1xi32> -> tile<8xi32>
    %19 = cmpi less_than %18, %bcast_10, signed : tile<8xi32> -> tile<8xi1>
    %20 = exti %assume_2 signed : tile<i32> -> tile<i64>
    %21 = muli %2, %20 : tile<i64>
    %22 = addi %21, %9 : tile<i64>
    %23 = offset %assume_1, %22 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
    %24 = iota : tile<8xi32>
    %reshape_11 = reshape %23 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_12 = broadcast %reshape_11 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %25 = offset %bcast_12, %24 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %26 = store_ptr_tko weak %25, %17, %19 : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
    %tview_13 = make_tensor_view %assume_3, shape = [%assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_14 = make_partition_view %tview_13 : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_15, %result_token_16 = load_view_tko weak %pview_14[%blockId_x, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x8xf32>, token
    %reshape_17 = reshape %tile_15 : tile<1x8xf32> -> tile<8xf32>
    %reduce = reduce %reshape_17 dim=0 identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %28 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %28 : tile<f32>
    }
    %27 = addf %iterArg0, %reduce  : tile<f32>
    continue %27 : tile<f32>
  }
  return
}
