// Producer: tileproof
entry @matmul_split(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<f32>>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>, %arg11: tile<i32>, %arg12: tile<i32>, %arg13: tile<ptr<i8>>) {
  %assume = assume bounded<0, ?>, %arg6 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg7 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume bounded<0, ?>, %arg8 : tile<i32>
  %2 = exti %assume_1 signed : tile<i32> -> tile<i64>
  %assume_2 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_3 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_4 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_5 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_6 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_7 = assume bounded<0, ?>, %arg5 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %3 = remi %blockId_x, %arg11 signed : tile<i32>
  %4 = divi %blockId_x, %arg11 signed : tile<i32>
  %5 = remi %4, %arg10 signed : tile<i32>
  %6 = divi %4, %arg10 signed : tile<i32>
  %7 = exti %6 signed : tile<i32> -> tile<i64>
  %cst_16_i64 = constant <i64: 16> : tile<i64>
  %8 = muli %7, %cst_16_i64 : tile<i64>
  %cst_16_i64_8 = constant <i64: 16> : tile<i64>
  %9 = addi %8, %cst_16_i64_8 : tile<i64>
  %10 = mini %9, %0 signed : tile<i64>
  %11 = subi %0, %8 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %12 = maxi %11, %cst_0_i64 signed : tile<i64>
  %cst_16_i64_9 = constant <i64: 16> : tile<i64>
  %13 = mini %12, %cst_16_i64_9 signed : tile<i64>
  %14 = trunci %13 : tile<i64> -> tile<i32>
  %15 = exti %5 signed : tile<i32> -> tile<i64>
  %cst_8_i64 = constant <i64: 8> : tile<i64>
  %16 = muli %15, %cst_8_i64 : tile<i64>
  %cst_8_i64_10 = constant <i64: 8> : tile<i64>
  %17 = addi %16, %cst_8_i64_10 : tile<i64>
  %18 = mini %17, %1 signed : tile<i64>
  %19 = subi %1, %16 : tile<i64>
  %cst_0_i64_11 = constant <i64: 0> : tile<i64>
  %20 = maxi %19, %cst_0_i64_11 signed : tile<i64>
  %cst_8_i64_12 = constant <i64: 8> : tile<i64>
  %21 = mini %20, %cst_8_i64_12 signed : tile<i64>
  %22 = trunci %21 : tile<i64> -> tile<i32>
  %23 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_20_i64 = constant <i64: 20> : tile<i64>
  %24 = muli %23, %cst_20_i64 : tile<i64>
  %cst_20_i64_13 = constant <i64: 20> : tile<i64>
  %25 = addi %24, %cst_20_i64_13 : tile<i64>
  %26 = mini %25, %2 signed : tile<i64>
  %27 = subi %2, %24 : tile<i64>
  %cst_0_i64_14 = constant <i64: 0> : tile<i64>
  %28 = maxi %27, %cst_0_i64_14 signed : tile<i64>
  %cst_20_i64_15 = constant <i64: 20> : tile<i64>
  %29 = mini %28, %cst_20_i64_15 signed : tile<i64>
  %30 = trunci %29 : tile<i64> -> tile<i32>
  %31 = muli %6, %arg10 : tile<i32>
  %32 = addi %31, %5 : tile<i32>
  %33 = muli %32, %arg11 : tile<i32>
  %34 = addi %33, %3 : tile<i32>
  %35 = exti %34 signed : tile<i32> -> tile<i64>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast = broadcast %reshape : tile<1x1xf32> -> tile<16x8xf32>
  %36 = mini %2, %26 signed : tile<i64>
  %37 = subi %36, %24 : tile<i64>
  %cst_0_i64_16 = constant <i64: 0> : tile<i64>
  %38 = maxi %37, %cst_0_i64_16 signed : tile<i64>
  %39 = trunci %38 : tile<i64> -> tile<i32>
  %cst_8_i32 = constant <i32: 8> : tile<i32>
  %40 = divi %39, %cst_8_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for = for %loopIdx in (%cst_0_i32 to %40, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast) -> (tile<16x8xf32>) {
    %49 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_8_i64_22 = constant <i64: 8> : tile<i64>
    %50 = muli %49, %cst_8_i64_22 : tile<i64>
    %51 = addi %24, %50 : tile<i64>
    %cst_8_i64_23 = constant <i64: 8> : tile<i64>
    %52 = addi %51, %cst_8_i64_23 : tile<i64>
    %53 = mini %52, %36 signed : tile<i64>
    %54 = subi %36, %51 : tile<i64>
    %cst_0_i64_24 = constant <i64: 0> : tile<i64>
    %55 = maxi %54, %cst_0_i64_24 signed : tile<i64>
    %cst_8_i64_25 = constant <i64: 8> : tile<i64>
    %56 = mini %55, %cst_8_i64_25 signed : tile<i64>
    %57 = trunci %56 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_4, shape = [%assume, %assume_1], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %sview = make_strided_view %tview : strided_view<tile=(16x8), traversal_strides=[16,1], padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %58 = trunci %51 : tile<i64> -> tile<i32>
    %tile, %result_token = load_view_tko weak %sview[%6, %58] : strided_view<tile=(16x8), traversal_strides=[16,1], padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<16x8xf32>, token
    %tview_26 = make_tensor_view %assume_6, shape = [%assume_1, %assume_0], strides = [%assume_7, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %sview_27 = make_strided_view %tview_26 : strided_view<tile=(8x8), traversal_strides=[1,8], padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %59 = trunci %51 : tile<i64> -> tile<i32>
    %tile_28, %result_token_29 = load_view_tko weak %sview_27[%59, %5] : strided_view<tile=(8x8), traversal_strides=[1,8], padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<8x8xf32>, token
    %60 = iota : tile<8xi32>
    %reshape_30 = reshape %57 : tile<i32> -> tile<1xi32>
    %bcast_31 = broadcast %reshape_30 : tile<1xi32> -> tile<8xi32>
    %61 = cmpi less_than %60, %bcast_31, signed : tile<8xi32> -> tile<8xi1>
    %reshape_32 = reshape %61 : tile<8xi1> -> tile<1x8xi1>
    %bcast_33 = broadcast %reshape_32 : tile<1x8xi1> -> tile<16x8xi1>
    %cst_0_f32_34 = constant <f32: 0.000000e+00> : tile<16x8xf32>
    %62 = select %bcast_33, %tile, %cst_0_f32_34 : tile<16x8xi1>, tile<16x8xf32>
    %63 = iota : tile<8xi32>
    %reshape_35 = reshape %57 : tile<i32> -> tile<1xi32>
    %bcast_36 = broadcast %reshape_35 : tile<1xi32> -> tile<8xi32>
    %64 = cmpi less_than %63, %bcast_36, signed : tile<8xi32> -> tile<8xi1>
    %reshape_37 = reshape %64 : tile<8xi1> -> tile<8x1xi1>
    %bcast_38 = broadcast %reshape_37 : tile<8x1xi1> -> tile<8x8xi1>
    %cst_0_f32_39 = constant <f32: 0.000000e+00> : tile<8x8xf32>
    %65 = select %bcast_38, %tile_28, %cst_0_f32_39 : tile<8x8xi1>, tile<8x8xf32>
    %66 = mmaf %62, %65, %iterArg0 : tile<16x8xf32>, tile<8x8xf32>, tile<16x8xf32>
    continue %66 : tile<16x8xf32>
  }
  %41 = ptr_to_int %arg13 : tile<ptr<i8>> -> tile<i64>
  %cst_512_i64 = constant <i64: 512> : tile<i64>
  %42 = muli %35, %cst_512_i64 : tile<i64>
  %43 = addi %41, %42 : tile<i64>
  %cst_0_i64_17 = constant <i64: 0> : tile<i64>
  %44 = addi %43, %cst_0_i64_17 : tile<i64>
  %45 = int_to_ptr %44 : tile<i64> -> tile<ptr<f32>>
  %assume_18 = assume div_by<16>, %45 : tile<ptr<f32>>
  %46 = iota : tile<128xi32>
  %reshape_19 = reshape %46 : tile<128xi32> -> tile<16x8xi32>
  %reshape_20 = reshape %assume_18 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bcast_21 = broadcast %reshape_20 : tile<1x1xptr<f32>> -> tile<16x8xptr<f32>>
  %47 = offset %bcast_21, %reshape_19 : tile<16x8xptr<f32>>, tile<16x8xi32> -> tile<16x8xptr<f32>>
  %48 = store_ptr_tko weak %47, %for : tile<16x8xptr<f32>>, tile<16x8xf32> -> token
  return
}
entry @matmul_split_after(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<f32>>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>, %arg11: tile<i32>, %arg12: tile<i32>, %arg13: tile<ptr<i8>>) {
  %assume = assume bounded<0, ?>, %arg6 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg7 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume bounded<0, ?>, %arg8 : tile<i32>
  %2 = exti %assume_1 signed : tile<i32> -> tile<i64>
  %assume_2 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_3 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_4 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_5 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_6 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_7 = assume bounded<0, ?>, %arg5 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %3 = remi %blockId_x, %arg10 signed : tile<i32>
  %4 = divi %blockId_x, %arg10 signed : tile<i32>
  %5 = exti %4 signed : tile<i32> -> tile<i64>
  %cst_16_i64 = constant <i64: 16> : tile<i64>
  %6 = muli %5, %cst_16_i64 : tile<i64>
  %cst_16_i64_8 = constant <i64: 16> : tile<i64>
  %7 = addi %6, %cst_16_i64_8 : tile<i64>
  %8 = mini %7, %0 signed : tile<i64>
  %9 = subi %0, %6 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %10 = maxi %9, %cst_0_i64 signed : tile<i64>
  %cst_16_i64_9 = constant <i64: 16> : tile<i64>
  %11 = mini %10, %cst_16_i64_9 signed : tile<i64>
  %12 = trunci %11 : tile<i64> -> tile<i32>
  %13 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_8_i64 = constant <i64: 8> : tile<i64>
  %14 = muli %13, %cst_8_i64 : tile<i64>
  %cst_8_i64_10 = constant <i64: 8> : tile<i64>
  %15 = addi %14, %cst_8_i64_10 : tile<i64>
  %16 = mini %15, %1 signed : tile<i64>
  %17 = subi %1, %14 : tile<i64>
  %cst_0_i64_11 = constant <i64: 0> : tile<i64>
  %18 = maxi %17, %cst_0_i64_11 signed : tile<i64>
  %cst_8_i64_12 = constant <i64: 8> : tile<i64>
  %19 = mini %18, %cst_8_i64_12 signed : tile<i64>
  %20 = trunci %19 : tile<i64> -> tile<i32>
  %21 = exti %arg12 signed : tile<i32> -> tile<i64>
  %22 = muli %4, %arg10 : tile<i32>
  %23 = addi %22, %3 : tile<i32>
  %24 = exti %23 signed : tile<i32> -> tile<i64>
  %25 = addi %21, %24 : tile<i64>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %26 = muli %4, %arg10 : tile<i32>
  %27 = addi %26, %3 : tile<i32>
  %28 = muli %27, %arg11 : tile<i32>
  %29 = addi %28, %cst_0_i32 : tile<i32>
  %30 = exti %29 signed : tile<i32> -> tile<i64>
  %31 = ptr_to_int %arg13 : tile<ptr<i8>> -> tile<i64>
  %cst_512_i64 = constant <i64: 512> : tile<i64>
  %32 = muli %30, %cst_512_i64 : tile<i64>
  %33 = addi %31, %32 : tile<i64>
  %cst_0_i64_13 = constant <i64: 0> : tile<i64>
  %34 = addi %33, %cst_0_i64_13 : tile<i64>
  %35 = int_to_ptr %34 : tile<i64> -> tile<ptr<f32>>
  %assume_14 = assume div_by<16>, %35 : tile<ptr<f32>>
  %36 = iota : tile<128xi32>
  %reshape = reshape %36 : tile<128xi32> -> tile<16x8xi32>
  %reshape_15 = reshape %assume_14 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bcast = broadcast %reshape_15 : tile<1x1xptr<f32>> -> tile<16x8xptr<f32>>
  %37 = offset %bcast, %reshape : tile<16x8xptr<f32>>, tile<16x8xi32> -> tile<16x8xptr<f32>>
  %result, %result_token = load_ptr_tko weak %37 : tile<16x8xptr<f32>> -> tile<16x8xf32>, token
  %for = for %loopIdx in (%cst_1_i32 to %arg11, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %result) -> (tile<16x8xf32>) {
    %39 = muli %4, %arg10 : tile<i32>
    %40 = addi %39, %3 : tile<i32>
    %41 = muli %40, %arg11 : tile<i32>
    %42 = addi %41, %loopIdx : tile<i32>
    %43 = exti %42 signed : tile<i32> -> tile<i64>
    %44 = ptr_to_int %arg13 : tile<ptr<i8>> -> tile<i64>
    %cst_512_i64_16 = constant <i64: 512> : tile<i64>
    %45 = muli %43, %cst_512_i64_16 : tile<i64>
    %46 = addi %44, %45 : tile<i64>
    %cst_0_i64_17 = constant <i64: 0> : tile<i64>
    %47 = addi %46, %cst_0_i64_17 : tile<i64>
    %48 = int_to_ptr %47 : tile<i64> -> tile<ptr<f32>>
    %assume_18 = assume div_by<16>, %48 : tile<ptr<f32>>
    %49 = iota : tile<128xi32>
    %reshape_19 = reshape %49 : tile<128xi32> -> tile<16x8xi32>
    %reshape_20 = reshape %assume_18 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_21 = broadcast %reshape_20 : tile<1x1xptr<f32>> -> tile<16x8xptr<f32>>
    %50 = offset %bcast_21, %reshape_19 : tile<16x8xptr<f32>>, tile<16x8xi32> -> tile<16x8xptr<f32>>
    %result_22, %result_token_23 = load_ptr_tko weak %50 : tile<16x8xptr<f32>> -> tile<16x8xf32>, token
    %51 = addf %iterArg0, %result_22  : tile<16x8xf32>
    continue %51 : tile<16x8xf32>
  }
  %tview = make_tensor_view %assume_2, shape = [%assume, %assume_0], strides = [%assume_3, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %pview = make_partition_view %tview : partition_view<tile=(16x8), tensor_view<?x?xf32, strides=[?,1]>>
  %38 = store_view_tko weak %for, %pview[%4, %3] : tile<16x8xf32>, partition_view<tile=(16x8), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  return
}
