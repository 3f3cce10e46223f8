// Producer: tileproof
entry @softmax(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>) {
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
  %cst_f32 = constant <f32: -3.40282347E+38> : tile<f32>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %5 = maxi %1, %cst_0_i64 signed : tile<i64>
  %6 = trunci %5 : tile<i64> -> tile<i32>
  %cst_8_i32 = constant <i32: 8> : tile<i32>
  %7 = divi %6, %cst_8_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for:2 = for %loopIdx in (%cst_0_i32 to %7, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %cst_0_f32, %iterArg1 = %cst_f32) -> (tile<f32>, tile<f32>) {
    %11 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_8_i64 = constant <i64: 8> : tile<i64>
    %12 = muli %11, %cst_8_i64 : tile<i64>
    %cst_8_i64_9 = constant <i64: 8> : tile<i64>
    %13 = addi %12, %cst_8_i64_9 : tile<i64>
    %14 = mini %13, %1 signed : tile<i64>
    %15 = subi %1, %12 : tile<i64>
    %cst_0_i64_10 = constant <i64: 0> : tile<i64>
    %16 = maxi %15, %cst_0_i64_10 signed : tile<i64>
    %cst_8_i64_11 = constant <i64: 8> : tile<i64>
    %17 = mini %16, %cst_8_i64_11 signed : tile<i64>
    %18 = trunci %17 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_3, shape = [%assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%blockId_x, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x8xf32>, token
    %reshape = reshape %tile : tile<1x8xf32> -> tile<8xf32>
    %19 = iota : tile<8xi32>
    %reshape_12 = reshape %18 : tile<i32> -> tile<1xi32>
    %bcast = broadcast %reshape_12 : tile<1xi32> -> tile<8xi32>
    %20 = cmpi less_than %19, %bcast, signed : tile<8xi32> -> tile<8xi1>
    %cst_f32_13 = constant <f32: 0xFF800000> : tile<8xf32>
    %21 = select %20, %reshape, %cst_f32_13 : tile<8xi1>, tile<8xf32>
    %reduce = reduce %21 dim=0 identities=[0xFF800000 : f32] : tile<8xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %31 = maxf %reduce_rhs, %reduce_lhs propagate_nan : tile<f32>
      yield %31 : tile<f32>
    }
    %22 = maxf %iterArg1, %reduce propagate_nan : tile<f32>
    %23 = subf %iterArg1, %22  : tile<f32>
    %24 = exp %23  : tile<f32>
    %reshape_14 = reshape %22 : tile<f32> -> tile<1xf32>
    %bcast_15 = broadcast %reshape_14 : tile<1xf32> -> tile<8xf32>
    %25 = subf %reshape, %bcast_15  : tile<8xf32>
    %26 = exp %25  : tile<8xf32>
    %27 = iota : tile<8xi32>
    %reshape_16 = reshape %18 : tile<i32> -> tile<1xi32>
    %bcast_17 = broadcast %reshape_16 : tile<1xi32> -> tile<8xi32>
    %28 = cmpi less_than %27, %bcast_17, signed : tile<8xi32> -> tile<8xi1>
    %cst_0_f32_18 = constant <f32: 0.000000e+00> : tile<8xf32>
    %29 = select %28, %26, %cst_0_f32_18 : tile<8xi1>, tile<8xf32>
    %reduce_19 = reduce %29 dim=0 identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %31 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %31 : tile<f32>
    }
    %30 = fma %iterArg0, %24, %reduce_19  : tile<f32>
    continue %30, %22 : tile<f32>, tile<f32>
  }
  %cst_0_i64_5 = constant <i64: 0> : tile<i64>
  %8 = maxi %1, %cst_0_i64_5 signed : tile<i64>
  %9 = trunci %8 : tile<i64> -> tile<i32>
  %cst_8_i32_6 = constant <i32: 8> : tile<i32>
  %10 = divi %9, %cst_8_i32_6 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32_7 = constant <i32: 0> : tile<i32>
  %cst_1_i32_8 = constant <i32: 1> : tile<i32>
  for %loopIdx in (%cst_0_i32_7 to %10, step %cst_1_i32_8) : tile<i32> {
    %11 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_8_i64 = constant <i64: 8> : tile<i64>
    %12 = muli %11, %cst_8_i64 : tile<i64>
    %cst_8_i64_9 = constant <i64: 8> : tile<i64>
    %13 = addi %12, %cst_8_i64_9 : tile<i64>
    %14 = mini %13, %1 signed : tile<i64>
    %15 = subi %1, %12 : tile<i64>
    %cst_0_i64_10 = constant <i64: 0> : tile<i64>
    %16 = maxi %15, %cst_0_i64_10 signed : tile<i64>
    %cst_8_i64_11 = constant <i64: 8> : tile<i64>
    %17 = mini %16, %cst_8_i64_11 signed : tile<i64>
    %18 = trunci %17 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_3, shape = [%assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%blockId_x, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x8xf32>, token
    %reshape = reshape %tile : tile<1x8xf32> -> tile<8xf32>
    %reshape_12 = reshape %for#1 : tile<f32> -> tile<1xf32>
    %bcast = broadcast %reshape_12 : tile<1xf32> -> tile<8xf32>
    %19 = subf %reshape, %bcast  : tile<8xf32>
    %20 = exp %19  : tile<8xf32>
    %reshape_13 = reshape %for#0 : tile<f32> -> tile<1xf32>
    %bcast_14 = broadcast %reshape_13 : tile<1xf32> -> tile<8xf32>
    %21 = divf %20, %bcast_14 rounding<full> : tile<8xf32>
    %22 = iota : tile<8xi32>
    %reshape_15 = reshape %18 : tile<i32> -> tile<1xi32>
    %bcast_16 = broadcast %reshape_15 : tile<1xi32> -> tile<8xi32>
    %23 = cmpi less_than %22, %bcast_16, signed : tile<8xi32> -> tile<8xi1>
    %24 = exti %assume_2 signed : tile<i32> -> tile<i64>
    %25 = muli %2, %24 : tile<i64>
    %26 = addi %25, %12 : tile<i64>
    %27 = offset %assume_1, %26 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
    %28 = iota : tile<8xi32>
    %reshape_17 = reshape %27 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_18 = broadcast %reshape_17 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %29 = offset %bcast_18, %28 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %30 = store_ptr_tko weak %29, %21, %23 : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  }
  return
}
