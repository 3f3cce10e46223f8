// Producer: tileproof
entry @histogram_begin(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>, %arg2: tile<i32>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg2 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_assume = assume div_by<4>, %assume_0 : tile<i32>
  %1 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<i32>>
  %assume_2 = assume div_by<16>, %arg1 : tile<ptr<i32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %2 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_1024_i64 = constant <i64: 1024> : tile<i64>
  %3 = muli %2, %cst_1024_i64 : tile<i64>
  %reshape = reshape %3 : tile<i64> -> tile<1xi64>
  %bcast = broadcast %reshape : tile<1xi64> -> tile<1024xi64>
  %4 = iota : tile<1024xi32>
  %5 = exti %4 signed : tile<1024xi32> -> tile<1024xi64>
  %6 = addi %bcast, %5 : tile<1024xi64>
  %reshape_3 = reshape %0 : tile<i64> -> tile<1xi64>
  %bcast_4 = broadcast %reshape_3 : tile<1xi64> -> tile<1024xi64>
  %7 = cmpi less_than %6, %bcast_4, signed : tile<1024xi64> -> tile<1024xi1>
  %cst_0_i64 = constant <i64: 0> : tile<1024xi64>
  %cst_1_i64 = constant <i64: 1> : tile<1024xi64>
  %8 = muli %6, %cst_1_i64 : tile<1024xi64>
  %9 = addi %cst_0_i64, %8 : tile<1024xi64>
  %reshape_5 = reshape %assume_1 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_6 = broadcast %reshape_5 : tile<1xptr<i32>> -> tile<1024xptr<i32>>
  %10 = offset %bcast_6, %9 : tile<1024xptr<i32>>, tile<1024xi64> -> tile<1024xptr<i32>>
  %cst_0_i32 = constant <i32: 0> : tile<1024xi32>
  %11 = store_ptr_tko weak %10, %cst_0_i32, %7 : tile<1024xptr<i32>>, tile<1024xi32>, tile<1024xi1> -> token
  return
}
entry @histogram(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>, %arg2: tile<i32>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg2 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_assume = assume div_by<4>, %assume_0 : tile<i32>
  %1 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<i32>>
  %assume_2 = assume div_by<16>, %arg1 : tile<ptr<i32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %2 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_16_i64 = constant <i64: 16> : tile<i64>
  %3 = muli %2, %cst_16_i64 : tile<i64>
  %cst_16_i64_3 = constant <i64: 16> : tile<i64>
  %4 = addi %3, %cst_16_i64_3 : tile<i64>
  %5 = mini %4, %1 signed : tile<i64>
  %6 = subi %1, %3 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %7 = maxi %6, %cst_0_i64 signed : tile<i64>
  %cst_16_i64_4 = constant <i64: 16> : tile<i64>
  %8 = mini %7, %cst_16_i64_4 signed : tile<i64>
  %9 = trunci %8 : tile<i64> -> tile<i32>
  %10 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %tview = make_tensor_view %assume_2, shape = [%assume_assume], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
  %pview = make_partition_view %tview : partition_view<tile=(16), padding_value = zero, tensor_view<?xi32, strides=[1]>>
  %tile, %result_token = load_view_tko weak %pview[%blockId_x] : partition_view<tile=(16), padding_value = zero, tensor_view<?xi32, strides=[1]>>, tile<i32> -> tile<16xi32>, token
  %11 = exti %tile signed : tile<16xi32> -> tile<16xi64>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %reshape = reshape %cst_1_i32 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape : tile<1xi32> -> tile<16xi32>
  %12 = iota : tile<16xi32>
  %reshape_5 = reshape %9 : tile<i32> -> tile<1xi32>
  %bcast_6 = broadcast %reshape_5 : tile<1xi32> -> tile<16xi32>
  %13 = cmpi less_than %12, %bcast_6, signed : tile<16xi32> -> tile<16xi1>
  %cst_0_i64_7 = constant <i64: 0> : tile<16xi64>
  %14 = cmpi greater_than_or_equal %11, %cst_0_i64_7, signed : tile<16xi64> -> tile<16xi1>
  %15 = andi %13, %14 : tile<16xi1>
  %16 = trunci %11 : tile<16xi64> -> tile<16xi32>
  %reshape_8 = reshape %assume_1 : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bcast_9 = broadcast %reshape_8 : tile<1xptr<i32>> -> tile<16xptr<i32>>
  %17 = offset %bcast_9, %16 : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
  %result, %result_token_10 = atomic_rmw_tko relaxed device %17, add, %bcast, %15 : tile<16xptr<i32>>, tile<16xi32>, tile<16xi1> -> tile<16xi32>, token
  return
}
