// Producer: tileproof
entry @kv_append(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<i32>>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>, %arg11: tile<i32>, %arg12: tile<ptr<i64>>) {
  %assume = assume bounded<0, ?>, %arg6 : tile<i32>
  %assume_assume = assume div_by<2>, %assume : tile<i32>
  %0 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg7 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume bounded<0, ?>, %arg8 : tile<i32>
  %2 = exti %assume_1 signed : tile<i32> -> tile<i64>
  %assume_2 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_3 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_4 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_5 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_6 = assume div_by<16>, %arg4 : tile<ptr<i32>>
  %assume_7 = assume div_by<16>, %arg5 : tile<i32>
  %assume_assume_8 = assume bounded<0, ?>, %assume_7 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %3 = remi %blockId_x, %arg10 signed : tile<i32>
  %4 = divi %blockId_x, %arg10 signed : tile<i32>
  %5 = exti %4 signed : tile<i32> -> tile<i64>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %6 = addi %5, %cst_1_i64 : tile<i64>
  %7 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_1_i64_9 = constant <i64: 1> : tile<i64>
  %8 = addi %7, %cst_1_i64_9 : tile<i64>
  %9 = muli %4, %arg10 : tile<i32>
  %10 = addi %9, %3 : tile<i32>
  %11 = exti %10 signed : tile<i32> -> tile<i64>
  %12 = exti %assume_assume_8 signed : tile<i32> -> tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %13 = muli %12, %cst_0_i64 : tile<i64>
  %14 = offset %assume_6, %13 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
  %result, %result_token = load_ptr_tko weak %14 : tile<ptr<i32>> -> tile<i32>, token
  %15 = exti %result signed : tile<i32> -> tile<i64>
  %16 = addi %15, %7 : tile<i64>
  %cst_0_i64_10 = constant <i64: 0> : tile<i64>
  %17 = cmpi less_than %16, %cst_0_i64_10, signed : tile<i64> -> tile<i1>
  %18 = cmpi greater_than_or_equal %16, %1, signed : tile<i64> -> tile<i1>
  %19 = ori %17, %18 : tile<i1>
  %true = constant <i1: true> : tile<i1>
  %true_11 = constant <i1: true> : tile<i1>
  %20 = xori %19, %true_11 : tile<i1>
  %21 = andi %true, %20 : tile<i1>
  %22 = andi %true, %19 : tile<i1>
  %cst_1_i64_12 = constant <i64: 1> : tile<i64>
  %23 = addi %11, %cst_1_i64_12 : tile<i64>
  %cst_1_i64_13 = constant <i64: 1> : tile<i64>
  %cst_4_i64 = constant <i64: 4> : tile<i64>
  %24 = muli %23, %cst_4_i64 : tile<i64>
  %cst_4_i64_14 = constant <i64: 4> : tile<i64>
  %25 = addi %24, %cst_4_i64_14 : tile<i64>
  %cst_0_i64_15 = constant <i64: 0> : tile<i64>
  %26 = addi %25, %cst_0_i64_15 : tile<i64>
  %27 = offset %arg12, %26 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
  %28 = store_ptr_tko relaxed device %27, %cst_1_i64_13, %22 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
  %cst_1_i64_16 = constant <i64: 1> : tile<i64>
  %29 = addi %25, %cst_1_i64_16 : tile<i64>
  %30 = offset %arg12, %29 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
  %31 = store_ptr_tko relaxed device %30, %16, %22 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
  %cst_2_i64 = constant <i64: 2> : tile<i64>
  %32 = addi %25, %cst_2_i64 : tile<i64>
  %33 = offset %arg12, %32 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
  %34 = store_ptr_tko relaxed device %33, %cst_0_i64_10, %22 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
  %cst_3_i64 = constant <i64: 3> : tile<i64>
  %35 = addi %25, %cst_3_i64 : tile<i64>
  %36 = offset %arg12, %35 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
  %37 = store_ptr_tko relaxed device %36, %1, %22 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
  %cst_1_i64_17 = constant <i64: 1> : tile<i64>
  %38 = store_ptr_tko relaxed device %arg12, %cst_1_i64_17, %22 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
  %tview = make_tensor_view %assume_4, shape = [%assume_assume, %assume_1, 5], strides = [%assume_5, 5, 1] : tile<i32> -> tensor_view<?x?x5xf32, strides=[?,5,1]>
  %pview = make_partition_view %tview : partition_view<tile=(1x1x8), padding_value = zero, tensor_view<?x?x5xf32, strides=[?,5,1]>>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %tile, %result_token_18 = load_view_tko weak %pview[%4, %3, %cst_0_i32] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x1x8), padding_value = zero, tensor_view<?x?x5xf32, strides=[?,5,1]>>, tile<i32> -> tile<1x1x8xf32>, token
  %reshape = reshape %tile : tile<1x1x8xf32> -> tile<8xf32>
  if %21 {
    %39 = iota : tile<8xi32>
    %cst_5_i32 = constant <i32: 5> : tile<i32>
    %reshape_19 = reshape %cst_5_i32 : tile<i32> -> tile<1xi32>
    %bcast = broadcast %reshape_19 : tile<1xi32> -> tile<8xi32>
    %40 = cmpi less_than %39, %bcast, signed : tile<8xi32> -> tile<8xi1>
    %41 = exti %assume_3 signed : tile<i32> -> tile<i64>
    %42 = muli %5, %41 : tile<i64>
    %cst_5_i64 = constant <i64: 5> : tile<i64>
    %43 = muli %16, %cst_5_i64 : tile<i64>
    %44 = addi %42, %43 : tile<i64>
    %45 = offset %assume_2, %44 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
    %46 = iota : tile<8xi32>
    %reshape_20 = reshape %45 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_21 = broadcast %reshape_20 : tile<1xptr<f32>> -> tile<8xptr<f32>>
    %47 = offset %bcast_21, %46 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
    %48 = store_ptr_tko weak %47, %reshape, %40 : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  } else {
  }
  return
}
