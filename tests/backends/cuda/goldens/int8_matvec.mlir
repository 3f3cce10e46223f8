// Producer: tileproof
entry @int8_matvec(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<i8>>, %arg2: tile<i32>, %arg3: tile<ptr<f32>>, %arg4: tile<i32>, %arg5: tile<ptr<f32>>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg6 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg7 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_2 = assume div_by<16>, %arg1 : tile<ptr<i8>>
  %assume_3 = assume div_by<16>, %arg2 : tile<i32>
  %assume_assume = assume bounded<0, ?>, %assume_3 : tile<i32>
  %assume_4 = assume div_by<16>, %arg3 : tile<ptr<f32>>
  %assume_5 = assume bounded<0, ?>, %arg4 : tile<i32>
  %assume_6 = assume div_by<16>, %arg5 : tile<ptr<f32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %2 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_4_i64 = constant <i64: 4> : tile<i64>
  %3 = muli %2, %cst_4_i64 : tile<i64>
  %cst_4_i64_7 = constant <i64: 4> : tile<i64>
  %4 = addi %3, %cst_4_i64_7 : tile<i64>
  %5 = mini %4, %0 signed : tile<i64>
  %6 = subi %0, %3 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %7 = maxi %6, %cst_0_i64 signed : tile<i64>
  %cst_4_i64_8 = constant <i64: 4> : tile<i64>
  %8 = mini %7, %cst_4_i64_8 signed : tile<i64>
  %9 = trunci %8 : tile<i64> -> tile<i32>
  %10 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape = reshape %cst_0_f32 : tile<f32> -> tile<1xf32>
  %bcast = broadcast %reshape : tile<1xf32> -> tile<4xf32>
  %cst_0_i64_9 = constant <i64: 0> : tile<i64>
  %11 = maxi %1, %cst_0_i64_9 signed : tile<i64>
  %12 = trunci %11 : tile<i64> -> tile<i32>
  %cst_2_i32 = constant <i32: 2> : tile<i32>
  %13 = divi %12, %cst_2_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for = for %loopIdx in (%cst_0_i32 to %13, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast) -> (tile<4xf32>) {
    %20 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_2_i64 = constant <i64: 2> : tile<i64>
    %21 = muli %20, %cst_2_i64 : tile<i64>
    %cst_2_i64_14 = constant <i64: 2> : tile<i64>
    %22 = addi %21, %cst_2_i64_14 : tile<i64>
    %23 = mini %22, %1 signed : tile<i64>
    %24 = subi %1, %21 : tile<i64>
    %cst_0_i64_15 = constant <i64: 0> : tile<i64>
    %25 = maxi %24, %cst_0_i64_15 signed : tile<i64>
    %cst_2_i64_16 = constant <i64: 2> : tile<i64>
    %26 = mini %25, %cst_2_i64_16 signed : tile<i64>
    %27 = trunci %26 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_2, shape = [%assume, %assume_0, 32], strides = [%assume_assume, 32, 1] : tile<i32> -> tensor_view<?x?x32xi8, strides=[?,32,1]>
    %pview = make_partition_view %tview : partition_view<tile=(4x2x32), padding_value = zero, tensor_view<?x?x32xi8, strides=[?,32,1]>>
    %cst_0_i32_17 = constant <i32: 0> : tile<i32>
    %tile, %result_token = load_view_tko weak %pview[%blockId_x, %loopIdx, %cst_0_i32_17] : partition_view<tile=(4x2x32), padding_value = zero, tensor_view<?x?x32xi8, strides=[?,32,1]>>, tile<i32> -> tile<4x2x32xi8>, token
    %28 = itof %tile signed  : tile<4x2x32xi8> -> tile<4x2x32xf32>
    %tview_18 = make_tensor_view %assume_6, shape = [%assume_0, 32], strides = [32, 1] : tile<i32> -> tensor_view<?x32xf32, strides=[32,1]>
    %pview_19 = make_partition_view %tview_18 : partition_view<tile=(2x32), padding_value = zero, tensor_view<?x32xf32, strides=[32,1]>>
    %cst_0_i32_20 = constant <i32: 0> : tile<i32>
    %tile_21, %result_token_22 = load_view_tko weak %pview_19[%loopIdx, %cst_0_i32_20] : partition_view<tile=(2x32), padding_value = zero, tensor_view<?x32xf32, strides=[32,1]>>, tile<i32> -> tile<2x32xf32>, token
    %reshape_23 = reshape %tile_21 : tile<2x32xf32> -> tile<1x2x32xf32>
    %bcast_24 = broadcast %reshape_23 : tile<1x2x32xf32> -> tile<4x2x32xf32>
    %29 = mulf %28, %bcast_24  : tile<4x2x32xf32>
    %reduce = reduce %29 dim=2 identities=[0.000000e+00 : f32] : tile<4x2x32xf32> -> tile<4x2xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %35 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %35 : tile<f32>
    }
    %tview_25 = make_tensor_view %assume_4, shape = [%assume, %assume_0], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_26 = make_partition_view %tview_25 : partition_view<tile=(4x2), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_27, %result_token_28 = load_view_tko weak %pview_26[%blockId_x, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(4x2), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x2xf32>, token
    %30 = mulf %reduce, %tile_27  : tile<4x2xf32>
    %31 = iota : tile<2xi32>
    %reshape_29 = reshape %27 : tile<i32> -> tile<1xi32>
    %bcast_30 = broadcast %reshape_29 : tile<1xi32> -> tile<2xi32>
    %32 = cmpi less_than %31, %bcast_30, signed : tile<2xi32> -> tile<2xi1>
    %reshape_31 = reshape %32 : tile<2xi1> -> tile<1x2xi1>
    %bcast_32 = broadcast %reshape_31 : tile<1x2xi1> -> tile<4x2xi1>
    %cst_0_f32_33 = constant <f32: 0.000000e+00> : tile<4x2xf32>
    %33 = select %bcast_32, %30, %cst_0_f32_33 : tile<4x2xi1>, tile<4x2xf32>
    %reduce_34 = reduce %33 dim=1 identities=[0.000000e+00 : f32] : tile<4x2xf32> -> tile<4xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %35 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %35 : tile<f32>
    }
    %34 = addf %iterArg0, %reduce_34  : tile<4xf32>
    continue %34 : tile<4xf32>
  }
  %14 = iota : tile<4xi32>
  %reshape_10 = reshape %9 : tile<i32> -> tile<1xi32>
  %bcast_11 = broadcast %reshape_10 : tile<1xi32> -> tile<4xi32>
  %15 = cmpi less_than %14, %bcast_11, signed : tile<4xi32> -> tile<4xi1>
  %16 = offset %assume_1, %3 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %17 = iota : tile<4xi32>
  %reshape_12 = reshape %16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_13 = broadcast %reshape_12 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %18 = offset %bcast_13, %17 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %19 = store_ptr_tko weak %18, %for, %15 : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> token
  return
}
