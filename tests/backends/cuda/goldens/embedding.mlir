// Producer: tileproof
entry @embedding(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<i32>>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg5 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg6 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume bounded<0, ?>, %arg7 : tile<i32>
  %assume_assume = assume div_by<2>, %assume_1 : tile<i32>
  %2 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_2 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_3 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_4 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_5 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_6 = assume div_by<16>, %arg4 : tile<ptr<i32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %3 = remi %blockId_x, %arg9 signed : tile<i32>
  %4 = divi %blockId_x, %arg9 signed : tile<i32>
  %5 = exti %4 signed : tile<i32> -> tile<i64>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %6 = addi %5, %cst_1_i64 : tile<i64>
  %7 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_8_i64 = constant <i64: 8> : tile<i64>
  %8 = muli %7, %cst_8_i64 : tile<i64>
  %cst_8_i64_7 = constant <i64: 8> : tile<i64>
  %9 = addi %8, %cst_8_i64_7 : tile<i64>
  %10 = mini %9, %1 signed : tile<i64>
  %11 = subi %1, %8 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %12 = maxi %11, %cst_0_i64 signed : tile<i64>
  %cst_8_i64_8 = constant <i64: 8> : tile<i64>
  %13 = mini %12, %cst_8_i64_8 signed : tile<i64>
  %14 = trunci %13 : tile<i64> -> tile<i32>
  %15 = muli %4, %arg9 : tile<i32>
  %16 = addi %15, %3 : tile<i32>
  %17 = exti %16 signed : tile<i32> -> tile<i64>
  %18 = offset %assume_6, %5 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
  %result, %result_token = load_ptr_tko weak %18 : tile<ptr<i32>> -> tile<i32>, token
  %19 = exti %result signed : tile<i32> -> tile<i64>
  %cst_0_i64_9 = constant <i64: 0> : tile<i64>
  %20 = cmpi greater_than_or_equal %19, %cst_0_i64_9, signed : tile<i64> -> tile<i1>
  %reshape = reshape %20 : tile<i1> -> tile<1xi1>
  %bcast = broadcast %reshape : tile<1xi1> -> tile<8xi1>
  %21 = iota : tile<8xi32>
  %reshape_10 = reshape %14 : tile<i32> -> tile<1xi32>
  %bcast_11 = broadcast %reshape_10 : tile<1xi32> -> tile<8xi32>
  %22 = cmpi less_than %21, %bcast_11, signed : tile<8xi32> -> tile<8xi1>
  %23 = andi %bcast, %22 : tile<8xi1>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<8xf32>
  %24 = exti %assume_5 signed : tile<i32> -> tile<i64>
  %25 = muli %19, %24 : tile<i64>
  %26 = addi %25, %8 : tile<i64>
  %27 = offset %assume_4, %26 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %28 = iota : tile<8xi32>
  %reshape_12 = reshape %27 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_13 = broadcast %reshape_12 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %29 = offset %bcast_13, %28 : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %result_14, %result_token_15 = load_ptr_tko weak %29, %23, %cst_0_f32 : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
  %reshape_16 = reshape %result_14 : tile<8xf32> -> tile<1x8xf32>
  %tview = make_tensor_view %assume_2, shape = [%assume, %assume_0], strides = [%assume_3, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %pview = make_partition_view %tview : partition_view<tile=(1x8), tensor_view<?x?xf32, strides=[?,1]>>
  %30 = store_view_tko weak %reshape_16, %pview[%4, %3] : tile<1x8xf32>, partition_view<tile=(1x8), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  return
}
