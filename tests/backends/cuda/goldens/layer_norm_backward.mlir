// Producer: tileproof
entry @layer_norm_backward_begin(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<ptr<f32>>, %arg4: tile<ptr<f32>>, %arg5: tile<ptr<f32>>, %arg6: tile<i32>, %arg7: tile<f32>, %arg8: tile<i32>, %arg9: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg6 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_1 = assume div_by<16>, %arg1 : tile<ptr<f32>>
  %assume_2 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_3 = assume div_by<16>, %arg3 : tile<ptr<f32>>
  %assume_4 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_5 = assume div_by<16>, %arg5 : tile<ptr<f32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_1024_i64 = constant <i64: 1024> : tile<i64>
  %2 = muli %1, %cst_1024_i64 : tile<i64>
  %reshape = reshape %2 : tile<i64> -> tile<1xi64>
  %bcast = broadcast %reshape : tile<1xi64> -> tile<1024xi64>
  %3 = iota : tile<1024xi32>
  %4 = exti %3 signed : tile<1024xi32> -> tile<1024xi64>
  %5 = addi %bcast, %4 : tile<1024xi64>
  %cst_20_i64 = constant <i64: 20> : tile<i64>
  %reshape_6 = reshape %cst_20_i64 : tile<i64> -> tile<1xi64>
  %bcast_7 = broadcast %reshape_6 : tile<1xi64> -> tile<1024xi64>
  %6 = cmpi less_than %5, %bcast_7, signed : tile<1024xi64> -> tile<1024xi1>
  %cst_0_i64 = constant <i64: 0> : tile<1024xi64>
  %cst_1_i64 = constant <i64: 1> : tile<1024xi64>
  %7 = muli %5, %cst_1_i64 : tile<1024xi64>
  %8 = addi %cst_0_i64, %7 : tile<1024xi64>
  %reshape_8 = reshape %assume_1 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_9 = broadcast %reshape_8 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %9 = offset %bcast_9, %8 : tile<1024xptr<f32>>, tile<1024xi64> -> tile<1024xptr<f32>>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<1024xf32>
  %10 = store_ptr_tko weak %9, %cst_0_f32, %6 : tile<1024xptr<f32>>, tile<1024xf32>, tile<1024xi1> -> token
  %blockId_x_10, %blockId_y_11, %blockId_z_12 = get_tile_block_id : tile<i32>
  %11 = exti %blockId_x_10 signed : tile<i32> -> tile<i64>
  %cst_1024_i64_13 = constant <i64: 1024> : tile<i64>
  %12 = muli %11, %cst_1024_i64_13 : tile<i64>
  %reshape_14 = reshape %12 : tile<i64> -> tile<1xi64>
  %bcast_15 = broadcast %reshape_14 : tile<1xi64> -> tile<1024xi64>
  %13 = iota : tile<1024xi32>
  %14 = exti %13 signed : tile<1024xi32> -> tile<1024xi64>
  %15 = addi %bcast_15, %14 : tile<1024xi64>
  %cst_20_i64_16 = constant <i64: 20> : tile<i64>
  %reshape_17 = reshape %cst_20_i64_16 : tile<i64> -> tile<1xi64>
  %bcast_18 = broadcast %reshape_17 : tile<1xi64> -> tile<1024xi64>
  %16 = cmpi less_than %15, %bcast_18, signed : tile<1024xi64> -> tile<1024xi1>
  %cst_0_i64_19 = constant <i64: 0> : tile<1024xi64>
  %cst_1_i64_20 = constant <i64: 1> : tile<1024xi64>
  %17 = muli %15, %cst_1_i64_20 : tile<1024xi64>
  %18 = addi %cst_0_i64_19, %17 : tile<1024xi64>
  %reshape_21 = reshape %assume_2 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_22 = broadcast %reshape_21 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %19 = offset %bcast_22, %18 : tile<1024xptr<f32>>, tile<1024xi64> -> tile<1024xptr<f32>>
  %cst_0_f32_23 = constant <f32: 0.000000e+00> : tile<1024xf32>
  %20 = store_ptr_tko weak %19, %cst_0_f32_23, %16 : tile<1024xptr<f32>>, tile<1024xf32>, tile<1024xi1> -> token
  return
}
entry @layer_norm_backward(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<ptr<f32>>, %arg4: tile<ptr<f32>>, %arg5: tile<ptr<f32>>, %arg6: tile<i32>, %arg7: tile<f32>, %arg8: tile<i32>, %arg9: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg6 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_1 = assume div_by<16>, %arg1 : tile<ptr<f32>>
  %assume_2 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_3 = assume div_by<16>, %arg3 : tile<ptr<f32>>
  %assume_4 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_5 = assume div_by<16>, %arg5 : tile<ptr<f32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %1 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_4_i64 = constant <i64: 4> : tile<i64>
  %2 = muli %1, %cst_4_i64 : tile<i64>
  %cst_4_i64_6 = constant <i64: 4> : tile<i64>
  %3 = addi %2, %cst_4_i64_6 : tile<i64>
  %4 = mini %3, %0 signed : tile<i64>
  %5 = subi %0, %2 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %6 = maxi %5, %cst_0_i64 signed : tile<i64>
  %cst_4_i64_7 = constant <i64: 4> : tile<i64>
  %7 = mini %6, %cst_4_i64_7 signed : tile<i64>
  %8 = trunci %7 : tile<i64> -> tile<i32>
  %9 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %tview = make_tensor_view %assume_4, shape = [%assume, 20], strides = [20, 1] : tile<i32> -> tensor_view<?x20xf32, strides=[20,1]>
  %pview = make_partition_view %tview : partition_view<tile=(4x32), padding_value = zero, tensor_view<?x20xf32, strides=[20,1]>>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %tile, %result_token = load_view_tko weak %pview[%blockId_x, %cst_0_i32] : partition_view<tile=(4x32), padding_value = zero, tensor_view<?x20xf32, strides=[20,1]>>, tile<i32> -> tile<4x32xf32>, token
  %tview_8 = make_tensor_view %assume_3, shape = [%assume, 20], strides = [20, 1] : tile<i32> -> tensor_view<?x20xf32, strides=[20,1]>
  %pview_9 = make_partition_view %tview_8 : partition_view<tile=(4x32), padding_value = zero, tensor_view<?x20xf32, strides=[20,1]>>
  %cst_0_i32_10 = constant <i32: 0> : tile<i32>
  %tile_11, %result_token_12 = load_view_tko weak %pview_9[%blockId_x, %cst_0_i32_10] : partition_view<tile=(4x32), padding_value = zero, tensor_view<?x20xf32, strides=[20,1]>>, tile<i32> -> tile<4x32xf32>, token
  %reduce = reduce %tile dim=1 identities=[0.000000e+00 : f32] : tile<4x32xf32> -> tile<4xf32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %47 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
    yield %47 : tile<f32>
  }
  %cst_f32 = constant <f32: 5.000000e-02> : tile<4xf32>
  %10 = mulf %reduce, %cst_f32  : tile<4xf32>
  %reshape = reshape %10 : tile<4xf32> -> tile<4x1xf32>
  %bcast = broadcast %reshape : tile<4x1xf32> -> tile<4x32xf32>
  %11 = subf %tile, %bcast  : tile<4x32xf32>
  %12 = mulf %11, %11  : tile<4x32xf32>
  %13 = iota : tile<32xi32>
  %cst_20_i32 = constant <i32: 20> : tile<i32>
  %reshape_13 = reshape %cst_20_i32 : tile<i32> -> tile<1xi32>
  %bcast_14 = broadcast %reshape_13 : tile<1xi32> -> tile<32xi32>
  %14 = cmpi less_than %13, %bcast_14, signed : tile<32xi32> -> tile<32xi1>
  %reshape_15 = reshape %14 : tile<32xi1> -> tile<1x32xi1>
  %bcast_16 = broadcast %reshape_15 : tile<1x32xi1> -> tile<4x32xi1>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<4x32xf32>
  %15 = select %bcast_16, %12, %cst_0_f32 : tile<4x32xi1>, tile<4x32xf32>
  %reduce_17 = reduce %15 dim=1 identities=[0.000000e+00 : f32] : tile<4x32xf32> -> tile<4xf32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %47 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
    yield %47 : tile<f32>
  }
  %cst_f32_18 = constant <f32: 5.000000e-02> : tile<4xf32>
  %16 = mulf %reduce_17, %cst_f32_18  : tile<4xf32>
  %reshape_19 = reshape %16 : tile<4xf32> -> tile<4x1xf32>
  %reshape_20 = reshape %arg7 : tile<f32> -> tile<1x1xf32>
  %bcast_21 = broadcast %reshape_20 : tile<1x1xf32> -> tile<4x1xf32>
  %17 = addf %reshape_19, %bcast_21  : tile<4x1xf32>
  %18 = rsqrt %17 : tile<4x1xf32>
  %bcast_22 = broadcast %18 : tile<4x1xf32> -> tile<4x32xf32>
  %19 = mulf %11, %bcast_22  : tile<4x32xf32>
  %tview_23 = make_tensor_view %assume_5, shape = [20], strides = [1] : tensor_view<20xf32, strides=[1]>
  %pview_24 = make_partition_view %tview_23 : partition_view<tile=(32), padding_value = zero, tensor_view<20xf32, strides=[1]>>
  %cst_0_i32_25 = constant <i32: 0> : tile<i32>
  %tile_26, %result_token_27 = load_view_tko weak %pview_24[%cst_0_i32_25] : partition_view<tile=(32), padding_value = zero, tensor_view<20xf32, strides=[1]>>, tile<i32> -> tile<32xf32>, token
  %reshape_28 = reshape %tile_26 : tile<32xf32> -> tile<1x32xf32>
  %bcast_29 = broadcast %reshape_28 : tile<1x32xf32> -> tile<4x32xf32>
  %20 = mulf %tile_11, %bcast_29  : tile<4x32xf32>
  %21 = mulf %20, %19  : tile<4x32xf32>
  %22 = iota : tile<32xi32>
  %cst_20_i32_30 = constant <i32: 20> : tile<i32>
  %reshape_31 = reshape %cst_20_i32_30 : tile<i32> -> tile<1xi32>
  %bcast_32 = broadcast %reshape_31 : tile<1xi32> -> tile<32xi32>
  %23 = cmpi less_than %22, %bcast_32, signed : tile<32xi32> -> tile<32xi1>
  %reshape_33 = reshape %23 : tile<32xi1> -> tile<1x32xi1>
  %bcast_34 = broadcast %reshape_33 : tile<1x32xi1> -> tile<4x32xi1>
  %cst_0_f32_35 = constant <f32: 0.000000e+00> : tile<4x32xf32>
  %24 = select %bcast_34, %21, %cst_0_f32_35 : tile<4x32xi1>, tile<4x32xf32>
  %reduce_36 = reduce %24 dim=1 identities=[0.000000e+00 : f32] : tile<4x32xf32> -> tile<4xf32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %47 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
    yield %47 : tile<f32>
  }
  %cst_f32_37 = constant <f32: 5.000000e-02> : tile<4xf32>
  %25 = mulf %reduce_36, %cst_f32_37  : tile<4xf32>
  %reshape_38 = reshape %25 : tile<4xf32> -> tile<4x1xf32>
  %26 = iota : tile<32xi32>
  %cst_20_i32_39 = constant <i32: 20> : tile<i32>
  %reshape_40 = reshape %cst_20_i32_39 : tile<i32> -> tile<1xi32>
  %bcast_41 = broadcast %reshape_40 : tile<1xi32> -> tile<32xi32>
  %27 = cmpi less_than %26, %bcast_41, signed : tile<32xi32> -> tile<32xi1>
  %reshape_42 = reshape %27 : tile<32xi1> -> tile<1x32xi1>
  %bcast_43 = broadcast %reshape_42 : tile<1x32xi1> -> tile<4x32xi1>
  %cst_0_f32_44 = constant <f32: 0.000000e+00> : tile<4x32xf32>
  %28 = select %bcast_43, %20, %cst_0_f32_44 : tile<4x32xi1>, tile<4x32xf32>
  %reduce_45 = reduce %28 dim=1 identities=[0.000000e+00 : f32] : tile<4x32xf32> -> tile<4xf32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %47 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
    yield %47 : tile<f32>
  }
  %cst_f32_46 = constant <f32: 5.000000e-02> : tile<4xf32>
  %29 = mulf %reduce_45, %cst_f32_46  : tile<4xf32>
  %reshape_47 = reshape %29 : tile<4xf32> -> tile<4x1xf32>
  %bcast_48 = broadcast %reshape_47 : tile<4x1xf32> -> tile<4x32xf32>
  %30 = subf %20, %bcast_48  : tile<4x32xf32>
  %bcast_49 = broadcast %reshape_38 : tile<4x1xf32> -> tile<4x32xf32>
  %31 = negf %19 : tile<4x32xf32>
  %32 = fma %31, %bcast_49, %30  : tile<4x32xf32>
  %bcast_50 = broadcast %18 : tile<4x1xf32> -> tile<4x32xf32>
  %33 = mulf %32, %bcast_50  : tile<4x32xf32>
  %tview_51 = make_tensor_view %assume_0, shape = [%assume, 20], strides = [20, 1] : tile<i32> -> tensor_view<?x20xf32, strides=[20,1]>
  %pview_52 = make_partition_view %tview_51 : partition_view<tile=(4x32), tensor_view<?x20xf32, strides=[20,1]>>
  %cst_0_i32_53 = constant <i32: 0> : tile<i32>
  %34 = store_view_tko weak %33, %pview_52[%blockId_x, %cst_0_i32_53] : tile<4x32xf32>, partition_view<tile=(4x32), tensor_view<?x20xf32, strides=[20,1]>>, tile<i32> -> token
  %35 = mulf %tile_11, %19  : tile<4x32xf32>
  %36 = iota : tile<4xi32>
  %reshape_54 = reshape %8 : tile<i32> -> tile<1xi32>
  %bcast_55 = broadcast %reshape_54 : tile<1xi32> -> tile<4xi32>
  %37 = cmpi less_than %36, %bcast_55, signed : tile<4xi32> -> tile<4xi1>
  %reshape_56 = reshape %37 : tile<4xi1> -> tile<4x1xi1>
  %bcast_57 = broadcast %reshape_56 : tile<4x1xi1> -> tile<4x32xi1>
  %cst_0_f32_58 = constant <f32: 0.000000e+00> : tile<4x32xf32>
  %38 = select %bcast_57, %35, %cst_0_f32_58 : tile<4x32xi1>, tile<4x32xf32>
  %reduce_59 = reduce %38 dim=0 identities=[0.000000e+00 : f32] : tile<4x32xf32> -> tile<32xf32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %47 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
    yield %47 : tile<f32>
  }
  %39 = iota : tile<32xi32>
  %cst_20_i32_60 = constant <i32: 20> : tile<i32>
  %reshape_61 = reshape %cst_20_i32_60 : tile<i32> -> tile<1xi32>
  %bcast_62 = broadcast %reshape_61 : tile<1xi32> -> tile<32xi32>
  %40 = cmpi less_than %39, %bcast_62, signed : tile<32xi32> -> tile<32xi1>
  %41 = iota : tile<32xi32>
  %reshape_63 = reshape %assume_1 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_64 = broadcast %reshape_63 : tile<1xptr<f32>> -> tile<32xptr<f32>>
  %42 = offset %bcast_64, %41 : tile<32xptr<f32>>, tile<32xi32> -> tile<32xptr<f32>>
  %result, %result_token_65 = atomic_rmw_tko relaxed device %42, addf, %reduce_59, %40 : tile<32xptr<f32>>, tile<32xf32>, tile<32xi1> -> tile<32xf32>, token
  %reduce_66 = reduce %tile_11 dim=0 identities=[0.000000e+00 : f32] : tile<4x32xf32> -> tile<32xf32> 
  (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
    %47 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
    yield %47 : tile<f32>
  }
  %43 = iota : tile<32xi32>
  %cst_20_i32_67 = constant <i32: 20> : tile<i32>
  %reshape_68 = reshape %cst_20_i32_67 : tile<i32> -> tile<1xi32>
  %bcast_69 = broadcast %reshape_68 : tile<1xi32> -> tile<32xi32>
  %44 = cmpi less_than %43, %bcast_69, signed : tile<32xi32> -> tile<32xi1>
  %45 = iota : tile<32xi32>
  %reshape_70 = reshape %assume_2 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_71 = broadcast %reshape_70 : tile<1xptr<f32>> -> tile<32xptr<f32>>
  %46 = offset %bcast_71, %45 : tile<32xptr<f32>>, tile<32xi32> -> tile<32xptr<f32>>
  %result_72, %result_token_73 = atomic_rmw_tko relaxed device %46, addf, %reduce_66, %44 : tile<32xptr<f32>>, tile<32xf32>, tile<32xi1> -> tile<32xf32>, token
  return
}
