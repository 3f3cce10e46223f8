// Producer: tileproof
entry @int4_matvec(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<i8>>, %arg2: tile<i32>, %arg3: tile<ptr<f32>>, %arg4: tile<i32>, %arg5: tile<ptr<f32>>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>) {
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
    %15 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_2_i64 = constant <i64: 2> : tile<i64>
    %16 = muli %15, %cst_2_i64 : tile<i64>
    %cst_2_i64_10 = constant <i64: 2> : tile<i64>
    %17 = addi %16, %cst_2_i64_10 : tile<i64>
    %18 = mini %17, %1 signed : tile<i64>
    %19 = subi %1, %16 : tile<i64>
    %cst_0_i64_11 = constant <i64: 0> : tile<i64>
    %20 = maxi %19, %cst_0_i64_11 signed : tile<i64>
    %cst_2_i64_12 = constant <i64: 2> : tile<i64>
    %21 = mini %20, %cst_2_i64_12 signed : tile<i64>
    %22 = trunci %21 : tile<i64> -> tile<i32>
    %tview_13 = make_tensor_view %assume_2, shape = [%assume, %assume_0, 16], strides = [%assume_assume, 16, 1] : tile<i32> -> tensor_view<?x?x16xi8, strides=[?,16,1]>
    %pview_14 = make_partition_view %tview_13 : partition_view<tile=(4x2x16), padding_value = zero, tensor_view<?x?x16xi8, strides=[?,16,1]>>
    %cst_0_i32_15 = constant <i32: 0> : tile<i32>
    %tile, %result_token = load_view_tko weak %pview_14[%blockId_x, %loopIdx, %cst_0_i32_15] : partition_view<tile=(4x2x16), padding_value = zero, tensor_view<?x?x16xi8, strides=[?,16,1]>>, tile<i32> -> tile<4x2x16xi8>, token
    %cst_15_i8 = constant <i8: 15> : tile<i8>
    %reshape_16 = reshape %cst_15_i8 : tile<i8> -> tile<1x1x1xi8>
    %bcast_17 = broadcast %reshape_16 : tile<1x1x1xi8> -> tile<4x2x16xi8>
    %23 = andi %tile, %bcast_17 : tile<4x2x16xi8>
    %24 = itof %23 unsigned  : tile<4x2x16xi8> -> tile<4x2x16xf32>
    %cst_8_f32 = constant <f32: 8.000000e+00> : tile<f32>
    %reshape_18 = reshape %cst_8_f32 : tile<f32> -> tile<1x1x1xf32>
    %bcast_19 = broadcast %reshape_18 : tile<1x1x1xf32> -> tile<4x2x16xf32>
    %25 = subf %24, %bcast_19  : tile<4x2x16xf32>
    %cst_4_i8 = constant <i8: 4> : tile<i8>
    %reshape_20 = reshape %cst_4_i8 : tile<i8> -> tile<1x1x1xi8>
    %bcast_21 = broadcast %reshape_20 : tile<1x1x1xi8> -> tile<4x2x16xi8>
    %cst_7_i8 = constant <i8: 7> : tile<4x2x16xi8>
    %26 = mini %bcast_21, %cst_7_i8 unsigned : tile<4x2x16xi8>
    %27 = shri %tile, %26 unsigned : tile<4x2x16xi8>
    %cst_8_i8 = constant <i8: 8> : tile<4x2x16xi8>
    %28 = cmpi less_than %bcast_21, %cst_8_i8, unsigned : tile<4x2x16xi8> -> tile<4x2x16xi1>
    %cst_0_i8 = constant <i8: 0> : tile<4x2x16xi8>
    %29 = select %28, %27, %cst_0_i8 : tile<4x2x16xi1>, tile<4x2x16xi8>
    %30 = itof %29 unsigned  : tile<4x2x16xi8> -> tile<4x2x16xf32>
    %reshape_22 = reshape %cst_8_f32 : tile<f32> -> tile<1x1x1xf32>
    %bcast_23 = broadcast %reshape_22 : tile<1x1x1xf32> -> tile<4x2x16xf32>
    %31 = subf %30, %bcast_23  : tile<4x2x16xf32>
    %tview_24 = make_tensor_view %assume_6, shape = [%assume_0, 2, 16], strides = [32, 16, 1] : tile<i32> -> tensor_view<?x2x16xf32, strides=[32,16,1]>
    %pview_25 = make_partition_view %tview_24 : partition_view<tile=(2x1x16), padding_value = zero, tensor_view<?x2x16xf32, strides=[32,16,1]>>
    %cst_0_i32_26 = constant <i32: 0> : tile<i32>
    %cst_0_i32_27 = constant <i32: 0> : tile<i32>
    %tile_28, %result_token_29 = load_view_tko weak %pview_25[%loopIdx, %cst_0_i32_26, %cst_0_i32_27] : partition_view<tile=(2x1x16), padding_value = zero, tensor_view<?x2x16xf32, strides=[32,16,1]>>, tile<i32> -> tile<2x1x16xf32>, token
    %reshape_30 = reshape %tile_28 : tile<2x1x16xf32> -> tile<2x16xf32>
    %reshape_31 = reshape %reshape_30 : tile<2x16xf32> -> tile<1x2x16xf32>
    %bcast_32 = broadcast %reshape_31 : tile<1x2x16xf32> -> tile<4x2x16xf32>
    %tview_33 = make_tensor_view %assume_6, shape = [%assume_0, 2, 16], strides = [32, 16, 1] : tile<i32> -> tensor_view<?x2x16xf32, strides=[32,16,1]>
    %pview_34 = make_partition_view %tview_33 : partition_view<tile=(2x1x16), padding_value = zero, tensor_view<?x2x16xf32, strides=[32,16,1]>>
    %cst_1_i32_35 = constant <i32: 1> : tile<i32>
    %cst_0_i32_36 = constant <i32: 0> : tile<i32>
    %tile_37, %result_token_38 = load_view_tko weak %pview_34[%loopIdx, %cst_1_i32_35, %cst_0_i32_36] : partition_view<tile=(2x1x16), padding_value = zero, tensor_view<?x2x16xf32, strides=[32,16,1]>>, tile<i32> -> tile<2x1x16xf32>, token
    %reshape_39 = reshape %tile_37 : tile<2x1x16xf32> -> tile<2x16xf32>
    %reshape_40 = reshape %reshape_39 : tile<2x16xf32> -> tile<1x2x16xf32>
    %bcast_41 = broadcast %reshape_40 : tile<1x2x16xf32> -> tile<4x2x16xf32>
    %32 = mulf %31, %bcast_41  : tile<4x2x16xf32>
    %33 = fma %25, %bcast_32, %32  : tile<4x2x16xf32>
    %reduce = reduce %33 dim=2 identities=[0.000000e+00 : f32] : tile<4x2x16xf32> -> tile<4x2xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %39 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %39 : tile<f32>
    }
    %tview_42 = make_tensor_view %assume_4, shape = [%assume, %assume_0], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_43 = make_partition_view %tview_42 : partition_view<tile=(4x2), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_44, %result_token_45 = load_view_tko weak %pview_43[%blockId_x, %loopIdx] : partition_view<tile=(4x2), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x2xf32>, token
    %34 = mulf %reduce, %tile_44  : tile<4x2xf32>
    %35 = iota : tile<2xi32>
    %reshape_46 = reshape %22 : tile<i32> -> tile<1xi32>
    %bcast_47 = broadcast %reshape_46 : tile<1xi32> -> tile<2xi32>
    %36 = cmpi less_than %35, %bcast_47, signed : tile<2xi32> -> tile<2xi1>
    %reshape_48 = reshape %36 : tile<2xi1> -> tile<1x2xi1>
    %bcast_49 = broadcast %reshape_48 : tile<1x2xi1> -> tile<4x2xi1>
    %cst_0_f32_50 = constant <f32: 0.000000e+00> : tile<4x2xf32>
    %37 = select %bcast_49, %34, %cst_0_f32_50 : tile<4x2xi1>, tile<4x2xf32>
    %reduce_51 = reduce %37 dim=1 identities=[0.000000e+00 : f32] : tile<4x2xf32> -> tile<4xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %39 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %39 : tile<f32>
    }
    %38 = addf %iterArg0, %reduce_51  : tile<4xf32>
    continue %38 : tile<4xf32>
  }
  %tview = make_tensor_view %assume_1, shape = [%assume], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %pview = make_partition_view %tview : partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>
  %14 = store_view_tko weak %for, %pview[%blockId_x] : tile<4xf32>, partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
  return
}
