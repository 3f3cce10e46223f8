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
    %cst_15_i8_18 = constant <i8: 15> : tile<4x2x16xi8>
    %23 = andi %tile, %cst_15_i8_18 : tile<4x2x16xi8>
    %24 = itof %23 unsigned  : tile<4x2x16xi8> -> tile<4x2x16xf32>
    %cst_8_f32 = constant <f32: 8.000000e+00> : tile<f32>
    %reshape_19 = reshape %cst_8_f32 : tile<f32> -> tile<1x1x1xf32>
    %bcast_20 = broadcast %reshape_19 : tile<1x1x1xf32> -> tile<4x2x16xf32>
    %25 = subf %24, %bcast_20  : tile<4x2x16xf32>
    %cst_4_i8 = constant <i8: 4> : tile<i8>
    %reshape_21 = reshape %cst_4_i8 : tile<i8> -> tile<1x1x1xi8>
    %bcast_22 = broadcast %reshape_21 : tile<1x1x1xi8> -> tile<4x2x16xi8>
    %cst_4_i8_23 = constant <i8: 4> : tile<4x2x16xi8>
    %26 = shri %tile, %cst_4_i8_23 unsigned : tile<4x2x16xi8>
    %27 = itof %26 unsigned  : tile<4x2x16xi8> -> tile<4x2x16xf32>
    %reshape_24 = reshape %cst_8_f32 : tile<f32> -> tile<1x1x1xf32>
    %bcast_25 = broadcast %reshape_24 : tile<1x1x1xf32> -> tile<4x2x16xf32>
    %28 = subf %27, %bcast_25  : tile<4x2x16xf32>
    %tview_26 = make_tensor_view %assume_6, shape = [%assume_0, 2, 16], strides = [32, 16, 1] : tile<i32> -> tensor_view<?x2x16xf32, strides=[32,16,1]>
    %pview_27 = make_partition_view %tview_26 : partition_view<tile=(2x1x16), padding_value = zero, tensor_view<?x2x16xf32, strides=[32,16,1]>>
    %cst_0_i32_28 = constant <i32: 0> : tile<i32>
    %cst_0_i32_29 = constant <i32: 0> : tile<i32>
    %tile_30, %result_token_31 = load_view_tko weak %pview_27[%loopIdx, %cst_0_i32_28, %cst_0_i32_29] : partition_view<tile=(2x1x16), padding_value = zero, tensor_view<?x2x16xf32, strides=[32,16,1]>>, tile<i32> -> tile<2x1x16xf32>, token
    %reshape_32 = reshape %tile_30 : tile<2x1x16xf32> -> tile<2x16xf32>
    %reshape_33 = reshape %reshape_32 : tile<2x16xf32> -> tile<1x2x16xf32>
    %bcast_34 = broadcast %reshape_33 : tile<1x2x16xf32> -> tile<4x2x16xf32>
    %tview_35 = make_tensor_view %assume_6, shape = [%assume_0, 2, 16], strides = [32, 16, 1] : tile<i32> -> tensor_view<?x2x16xf32, strides=[32,16,1]>
    %pview_36 = make_partition_view %tview_35 : partition_view<tile=(2x1x16), padding_value = zero, tensor_view<?x2x16xf32, strides=[32,16,1]>>
    %cst_1_i32_37 = constant <i32: 1> : tile<i32>
    %cst_0_i32_38 = constant <i32: 0> : tile<i32>
    %tile_39, %result_token_40 = load_view_tko weak %pview_36[%loopIdx, %cst_1_i32_37, %cst_0_i32_38] : partition_view<tile=(2x1x16), padding_value = zero, tensor_view<?x2x16xf32, strides=[32,16,1]>>, tile<i32> -> tile<2x1x16xf32>, token
    %reshape_41 = reshape %tile_39 : tile<2x1x16xf32> -> tile<2x16xf32>
    %reshape_42 = reshape %reshape_41 : tile<2x16xf32> -> tile<1x2x16xf32>
    %bcast_43 = broadcast %reshape_42 : tile<1x2x16xf32> -> tile<4x2x16xf32>
    %29 = mulf %28, %bcast_43  : tile<4x2x16xf32>
    %30 = fma %25, %bcast_34, %29  : tile<4x2x16xf32>
    %reduce = reduce %30 dim=2 identities=[0.000000e+00 : f32] : tile<4x2x16xf32> -> tile<4x2xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %36 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %36 : tile<f32>
    }
    %tview_44 = make_tensor_view %assume_4, shape = [%assume, %assume_0], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_45 = make_partition_view %tview_44 : partition_view<tile=(4x2), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_46, %result_token_47 = load_view_tko weak %pview_45[%blockId_x, %loopIdx] : partition_view<tile=(4x2), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x2xf32>, token
    %31 = mulf %reduce, %tile_46  : tile<4x2xf32>
    %32 = iota : tile<2xi32>
    %reshape_48 = reshape %22 : tile<i32> -> tile<1xi32>
    %bcast_49 = broadcast %reshape_48 : tile<1xi32> -> tile<2xi32>
    %33 = cmpi less_than %32, %bcast_49, signed : tile<2xi32> -> tile<2xi1>
    %reshape_50 = reshape %33 : tile<2xi1> -> tile<1x2xi1>
    %bcast_51 = broadcast %reshape_50 : tile<1x2xi1> -> tile<4x2xi1>
    %cst_0_f32_52 = constant <f32: 0.000000e+00> : tile<4x2xf32>
    %34 = select %bcast_51, %31, %cst_0_f32_52 : tile<4x2xi1>, tile<4x2xf32>
    %reduce_53 = reduce %34 dim=1 identities=[0.000000e+00 : f32] : tile<4x2xf32> -> tile<4xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %36 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %36 : tile<f32>
    }
    %35 = addf %iterArg0, %reduce_53  : tile<4xf32>
    continue %35 : tile<4xf32>
  }
  %tview = make_tensor_view %assume_1, shape = [%assume], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
  %pview = make_partition_view %tview : partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>
  %14 = store_view_tko weak %for, %pview[%blockId_x] : tile<4xf32>, partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
  return
}
