// Producer: tileproof
entry @scatter_rows(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<i32>>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg5 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg6 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume bounded<0, ?>, %arg7 : tile<i32>
  %2 = exti %assume_1 signed : tile<i32> -> tile<i64>
  %assume_2 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_3 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_4 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_5 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_6 = assume div_by<16>, %arg4 : tile<ptr<i32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %3 = remi %blockId_x, %arg9 signed : tile<i32>
  %4 = divi %blockId_x, %arg9 signed : tile<i32>
  %5 = exti %4 signed : tile<i32> -> tile<i64>
  %cst_4_i64 = constant <i64: 4> : tile<i64>
  %6 = muli %5, %cst_4_i64 : tile<i64>
  %cst_4_i64_7 = constant <i64: 4> : tile<i64>
  %7 = addi %6, %cst_4_i64_7 : tile<i64>
  %8 = mini %7, %2 signed : tile<i64>
  %9 = subi %2, %6 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %10 = maxi %9, %cst_0_i64 signed : tile<i64>
  %cst_4_i64_8 = constant <i64: 4> : tile<i64>
  %11 = mini %10, %cst_4_i64_8 signed : tile<i64>
  %12 = trunci %11 : tile<i64> -> tile<i32>
  %13 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_8_i64 = constant <i64: 8> : tile<i64>
  %14 = muli %13, %cst_8_i64 : tile<i64>
  %cst_8_i64_9 = constant <i64: 8> : tile<i64>
  %15 = addi %14, %cst_8_i64_9 : tile<i64>
  %16 = mini %15, %1 signed : tile<i64>
  %17 = subi %1, %14 : tile<i64>
  %cst_0_i64_10 = constant <i64: 0> : tile<i64>
  %18 = maxi %17, %cst_0_i64_10 signed : tile<i64>
  %cst_8_i64_11 = constant <i64: 8> : tile<i64>
  %19 = mini %18, %cst_8_i64_11 signed : tile<i64>
  %20 = trunci %19 : tile<i64> -> tile<i32>
  %21 = muli %4, %arg9 : tile<i32>
  %22 = addi %21, %3 : tile<i32>
  %23 = exti %22 signed : tile<i32> -> tile<i64>
  %tview = make_tensor_view %assume_4, shape = [%assume_1, %assume_0], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %pview = make_partition_view %tview : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
  %tile, %result_token = load_view_tko weak %pview[%4, %3] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x8xf32>, token
  %tview_12 = make_tensor_view %assume_6, shape = [%assume_1], strides = [1] : tile<i32> -> tensor_view<?xi32, strides=[1]>
  %pview_13 = make_partition_view %tview_12 : partition_view<tile=(4), padding_value = zero, tensor_view<?xi32, strides=[1]>>
  %tile_14, %result_token_15 = load_view_tko weak %pview_13[%4] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(4), padding_value = zero, tensor_view<?xi32, strides=[1]>>, tile<i32> -> tile<4xi32>, token
  %24 = exti %tile_14 signed : tile<4xi32> -> tile<4xi64>
  %25 = iota : tile<4xi32>
  %reshape = reshape %12 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape : tile<1xi32> -> tile<4xi32>
  %26 = cmpi less_than %25, %bcast, signed : tile<4xi32> -> tile<4xi1>
  %reshape_16 = reshape %26 : tile<4xi1> -> tile<4x1xi1>
  %bcast_17 = broadcast %reshape_16 : tile<4x1xi1> -> tile<4x8xi1>
  %cst_0_i64_18 = constant <i64: 0> : tile<4xi64>
  %27 = cmpi greater_than_or_equal %24, %cst_0_i64_18, signed : tile<4xi64> -> tile<4xi1>
  %reshape_19 = reshape %27 : tile<4xi1> -> tile<4x1xi1>
  %bcast_20 = broadcast %reshape_19 : tile<4x1xi1> -> tile<4x8xi1>
  %28 = andi %bcast_17, %bcast_20 : tile<4x8xi1>
  %29 = iota : tile<8xi32>
  %reshape_21 = reshape %20 : tile<i32> -> tile<1xi32>
  %bcast_22 = broadcast %reshape_21 : tile<1xi32> -> tile<8xi32>
  %30 = cmpi less_than %29, %bcast_22, signed : tile<8xi32> -> tile<8xi1>
  %reshape_23 = reshape %30 : tile<8xi1> -> tile<1x8xi1>
  %bcast_24 = broadcast %reshape_23 : tile<1x8xi1> -> tile<4x8xi1>
  %31 = andi %28, %bcast_24 : tile<4x8xi1>
  %32 = exti %assume_3 signed : tile<i32> -> tile<i64>
  %cst_0_i64_25 = constant <i64: 0> : tile<i64>
  %33 = muli %32, %cst_0_i64_25 : tile<i64>
  %34 = addi %33, %14 : tile<i64>
  %35 = offset %assume_2, %34 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %36 = trunci %24 : tile<4xi64> -> tile<4xi32>
  %reshape_26 = reshape %assume_3 : tile<i32> -> tile<1xi32>
  %bcast_27 = broadcast %reshape_26 : tile<1xi32> -> tile<4xi32>
  %37 = muli %36, %bcast_27 : tile<4xi32>
  %reshape_28 = reshape %37 : tile<4xi32> -> tile<4x1xi32>
  %bcast_29 = broadcast %reshape_28 : tile<4x1xi32> -> tile<4x8xi32>
  %38 = iota : tile<8xi32>
  %reshape_30 = reshape %38 : tile<8xi32> -> tile<1x8xi32>
  %bcast_31 = broadcast %reshape_30 : tile<1x8xi32> -> tile<4x8xi32>
  %39 = addi %bcast_29, %bcast_31 : tile<4x8xi32>
  %reshape_32 = reshape %35 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bcast_33 = broadcast %reshape_32 : tile<1x1xptr<f32>> -> tile<4x8xptr<f32>>
  %40 = offset %bcast_33, %39 : tile<4x8xptr<f32>>, tile<4x8xi32> -> tile<4x8xptr<f32>>
  %41 = store_ptr_tko weak %40, %tile, %31 : tile<4x8xptr<f32>>, tile<4x8xf32>, tile<4x8xi1> -> token
  return
}
