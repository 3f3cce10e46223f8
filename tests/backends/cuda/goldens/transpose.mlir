// Producer: tileproof
entry @transpose(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg4 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg5 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_2 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_3 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_4 = assume bounded<0, ?>, %arg3 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %2 = remi %blockId_x, %arg7 signed : tile<i32>
  %3 = divi %blockId_x, %arg7 signed : tile<i32>
  %4 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_8_i64 = constant <i64: 8> : tile<i64>
  %5 = muli %4, %cst_8_i64 : tile<i64>
  %cst_8_i64_5 = constant <i64: 8> : tile<i64>
  %6 = addi %5, %cst_8_i64_5 : tile<i64>
  %7 = mini %6, %1 signed : tile<i64>
  %8 = subi %1, %5 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %9 = maxi %8, %cst_0_i64 signed : tile<i64>
  %cst_8_i64_6 = constant <i64: 8> : tile<i64>
  %10 = mini %9, %cst_8_i64_6 signed : tile<i64>
  %11 = trunci %10 : tile<i64> -> tile<i32>
  %12 = exti %2 signed : tile<i32> -> tile<i64>
  %cst_4_i64 = constant <i64: 4> : tile<i64>
  %13 = muli %12, %cst_4_i64 : tile<i64>
  %cst_4_i64_7 = constant <i64: 4> : tile<i64>
  %14 = addi %13, %cst_4_i64_7 : tile<i64>
  %15 = mini %14, %0 signed : tile<i64>
  %16 = subi %0, %13 : tile<i64>
  %cst_0_i64_8 = constant <i64: 0> : tile<i64>
  %17 = maxi %16, %cst_0_i64_8 signed : tile<i64>
  %cst_4_i64_9 = constant <i64: 4> : tile<i64>
  %18 = mini %17, %cst_4_i64_9 signed : tile<i64>
  %19 = trunci %18 : tile<i64> -> tile<i32>
  %20 = muli %3, %arg7 : tile<i32>
  %21 = addi %20, %2 : tile<i32>
  %22 = exti %21 signed : tile<i32> -> tile<i64>
  %tview = make_tensor_view %assume_3, shape = [%assume_0, %assume], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %pview = make_partition_view %tview : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>, dim_map=[1, 0]>
  %tile, %result_token = load_view_tko weak %pview[%2, %3] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> tile<4x8xf32>, token
  %23 = iota : tile<4xi32>
  %reshape = reshape %19 : tile<i32> -> tile<1xi32>
  %bcast = broadcast %reshape : tile<1xi32> -> tile<4xi32>
  %24 = cmpi less_than %23, %bcast, signed : tile<4xi32> -> tile<4xi1>
  %reshape_10 = reshape %24 : tile<4xi1> -> tile<4x1xi1>
  %bcast_11 = broadcast %reshape_10 : tile<4x1xi1> -> tile<4x8xi1>
  %25 = iota : tile<8xi32>
  %reshape_12 = reshape %11 : tile<i32> -> tile<1xi32>
  %bcast_13 = broadcast %reshape_12 : tile<1xi32> -> tile<8xi32>
  %26 = cmpi less_than %25, %bcast_13, signed : tile<8xi32> -> tile<8xi1>
  %reshape_14 = reshape %26 : tile<8xi1> -> tile<1x8xi1>
  %bcast_15 = broadcast %reshape_14 : tile<1x8xi1> -> tile<4x8xi1>
  %27 = andi %bcast_11, %bcast_15 : tile<4x8xi1>
  %28 = exti %assume_2 signed : tile<i32> -> tile<i64>
  %29 = muli %13, %28 : tile<i64>
  %30 = addi %29, %5 : tile<i64>
  %31 = offset %assume_1, %30 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %32 = iota : tile<4xi32>
  %reshape_16 = reshape %assume_2 : tile<i32> -> tile<1xi32>
  %bcast_17 = broadcast %reshape_16 : tile<1xi32> -> tile<4xi32>
  %33 = muli %32, %bcast_17 : tile<4xi32>
  %reshape_18 = reshape %33 : tile<4xi32> -> tile<4x1xi32>
  %bcast_19 = broadcast %reshape_18 : tile<4x1xi32> -> tile<4x8xi32>
  %34 = iota : tile<8xi32>
  %reshape_20 = reshape %34 : tile<8xi32> -> tile<1x8xi32>
  %bcast_21 = broadcast %reshape_20 : tile<1x8xi32> -> tile<4x8xi32>
  %35 = addi %bcast_19, %bcast_21 : tile<4x8xi32>
  %reshape_22 = reshape %31 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bcast_23 = broadcast %reshape_22 : tile<1x1xptr<f32>> -> tile<4x8xptr<f32>>
  %36 = offset %bcast_23, %35 : tile<4x8xptr<f32>>, tile<4x8xi32> -> tile<4x8xptr<f32>>
  %37 = store_ptr_tko weak %36, %tile, %27 : tile<4x8xptr<f32>>, tile<4x8xf32>, tile<4x8xi1> -> token
  return
}
