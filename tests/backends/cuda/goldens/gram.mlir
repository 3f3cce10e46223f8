// Producer: tileproof
entry @gram(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>) {
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
  %7 = mini %6, %0 signed : tile<i64>
  %8 = subi %0, %5 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %9 = maxi %8, %cst_0_i64 signed : tile<i64>
  %cst_8_i64_6 = constant <i64: 8> : tile<i64>
  %10 = mini %9, %cst_8_i64_6 signed : tile<i64>
  %11 = trunci %10 : tile<i64> -> tile<i32>
  %12 = exti %2 signed : tile<i32> -> tile<i64>
  %cst_8_i64_7 = constant <i64: 8> : tile<i64>
  %13 = muli %12, %cst_8_i64_7 : tile<i64>
  %cst_8_i64_8 = constant <i64: 8> : tile<i64>
  %14 = addi %13, %cst_8_i64_8 : tile<i64>
  %15 = mini %14, %0 signed : tile<i64>
  %16 = subi %0, %13 : tile<i64>
  %cst_0_i64_9 = constant <i64: 0> : tile<i64>
  %17 = maxi %16, %cst_0_i64_9 signed : tile<i64>
  %cst_8_i64_10 = constant <i64: 8> : tile<i64>
  %18 = mini %17, %cst_8_i64_10 signed : tile<i64>
  %19 = trunci %18 : tile<i64> -> tile<i32>
  %20 = muli %3, %arg7 : tile<i32>
  %21 = addi %20, %2 : tile<i32>
  %22 = exti %21 signed : tile<i32> -> tile<i64>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast = broadcast %reshape : tile<1x1xf32> -> tile<8x8xf32>
  %cst_0_i64_11 = constant <i64: 0> : tile<i64>
  %23 = maxi %1, %cst_0_i64_11 signed : tile<i64>
  %24 = trunci %23 : tile<i64> -> tile<i32>
  %cst_16_i32 = constant <i32: 16> : tile<i32>
  %25 = divi %24, %cst_16_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for = for %loopIdx in (%cst_0_i32 to %25, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast) -> (tile<8x8xf32>) {
    %41 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_16_i64 = constant <i64: 16> : tile<i64>
    %42 = muli %41, %cst_16_i64 : tile<i64>
    %cst_16_i64_28 = constant <i64: 16> : tile<i64>
    %43 = addi %42, %cst_16_i64_28 : tile<i64>
    %44 = mini %43, %1 signed : tile<i64>
    %45 = subi %1, %42 : tile<i64>
    %cst_0_i64_29 = constant <i64: 0> : tile<i64>
    %46 = maxi %45, %cst_0_i64_29 signed : tile<i64>
    %cst_16_i64_30 = constant <i64: 16> : tile<i64>
    %47 = mini %46, %cst_16_i64_30 signed : tile<i64>
    %48 = trunci %47 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_3, shape = [%assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%3, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<8x16xf32>, token
    %tview_31 = make_tensor_view %assume_3, shape = [%assume, %assume_0], strides = [%assume_4, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_32 = make_partition_view %tview_31 : partition_view<tile=(16x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>, dim_map=[1, 0]>
    %tile_33, %result_token_34 = load_view_tko weak %pview_32[%loopIdx, %2] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(16x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>, dim_map=[1, 0]>, tile<i32> -> tile<16x8xf32>, token
    %49 = mmaf %tile, %tile_33, %iterArg0 : tile<8x16xf32>, tile<16x8xf32>, tile<8x8xf32>
    continue %49 : tile<8x8xf32>
  }
  %26 = iota : tile<8xi32>
  %reshape_12 = reshape %11 : tile<i32> -> tile<1xi32>
  %bcast_13 = broadcast %reshape_12 : tile<1xi32> -> tile<8xi32>
  %27 = cmpi less_than %26, %bcast_13, signed : tile<8xi32> -> tile<8xi1>
  %reshape_14 = reshape %27 : tile<8xi1> -> tile<8x1xi1>
  %bcast_15 = broadcast %reshape_14 : tile<8x1xi1> -> tile<8x8xi1>
  %28 = iota : tile<8xi32>
  %reshape_16 = reshape %19 : tile<i32> -> tile<1xi32>
  %bcast_17 = broadcast %reshape_16 : tile<1xi32> -> tile<8xi32>
  %29 = cmpi less_than %28, %bcast_17, signed : tile<8xi32> -> tile<8xi1>
  %reshape_18 = reshape %29 : tile<8xi1> -> tile<1x8xi1>
  %bcast_19 = broadcast %reshape_18 : tile<1x8xi1> -> tile<8x8xi1>
  %30 = andi %bcast_15, %bcast_19 : tile<8x8xi1>
  %31 = exti %assume_2 signed : tile<i32> -> tile<i64>
  %32 = muli %5, %31 : tile<i64>
  %33 = addi %32, %13 : tile<i64>
  %34 = offset %assume_1, %33 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %35 = iota : tile<8xi32>
  %reshape_20 = reshape %assume_2 : tile<i32> -> tile<1xi32>
  %bcast_21 = broadcast %reshape_20 : tile<1xi32> -> tile<8xi32>
  %36 = muli %35, %bcast_21 : tile<8xi32>
  %reshape_22 = reshape %36 : tile<8xi32> -> tile<8x1xi32>
  %bcast_23 = broadcast %reshape_22 : tile<8x1xi32> -> tile<8x8xi32>
  %37 = iota : tile<8xi32>
  %reshape_24 = reshape %37 : tile<8xi32> -> tile<1x8xi32>
  %bcast_25 = broadcast %reshape_24 : tile<1x8xi32> -> tile<8x8xi32>
  %38 = addi %bcast_23, %bcast_25 : tile<8x8xi32>
  %reshape_26 = reshape %34 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bcast_27 = broadcast %reshape_26 : tile<1x1xptr<f32>> -> tile<8x8xptr<f32>>
  %39 = offset %bcast_27, %38 : tile<8x8xptr<f32>>, tile<8x8xi32> -> tile<8x8xptr<f32>>
  %40 = store_ptr_tko weak %39, %for, %30 : tile<8x8xptr<f32>>, tile<8x8xf32>, tile<8x8xi1> -> token
  return
}
