// Producer: tileproof
entry @decode_attention(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<f32>>, %arg5: tile<i32>, %arg6: tile<ptr<i32>>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<f32>, %arg11: tile<i32>, %arg12: tile<i32>, %arg13: tile<i32>, %arg14: tile<ptr<i8>>) {
  %assume = assume bounded<0, ?>, %arg8 : tile<i32>
  %assume_assume = assume div_by<2>, %assume : tile<i32>
  %0 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg9 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_2 = assume div_by<16>, %arg1 : tile<ptr<f32>>
  %assume_3 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_4 = assume div_by<8>, %arg3 : tile<i32>
  %assume_assume_5 = assume bounded<0, ?>, %assume_4 : tile<i32>
  %assume_6 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_7 = assume div_by<8>, %arg5 : tile<i32>
  %assume_assume_8 = assume bounded<0, ?>, %assume_7 : tile<i32>
  %assume_9 = assume div_by<16>, %arg6 : tile<ptr<i32>>
  %assume_10 = assume div_by<16>, %arg7 : tile<i32>
  %assume_assume_11 = assume bounded<0, ?>, %assume_10 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %2 = remi %blockId_x, %arg12 signed : tile<i32>
  %3 = divi %blockId_x, %arg12 signed : tile<i32>
  %4 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %5 = addi %4, %cst_1_i64 : tile<i64>
  %6 = exti %2 signed : tile<i32> -> tile<i64>
  %cst_10_i64 = constant <i64: 10> : tile<i64>
  %7 = muli %6, %cst_10_i64 : tile<i64>
  %cst_10_i64_12 = constant <i64: 10> : tile<i64>
  %8 = addi %7, %cst_10_i64_12 : tile<i64>
  %9 = mini %8, %1 signed : tile<i64>
  %10 = subi %1, %7 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %11 = maxi %10, %cst_0_i64 signed : tile<i64>
  %cst_10_i64_13 = constant <i64: 10> : tile<i64>
  %12 = mini %11, %cst_10_i64_13 signed : tile<i64>
  %13 = trunci %12 : tile<i64> -> tile<i32>
  %14 = muli %3, %arg12 : tile<i32>
  %15 = addi %14, %2 : tile<i32>
  %16 = exti %15 signed : tile<i32> -> tile<i64>
  %cst_f32 = constant <f32: -3.40282347E+38> : tile<f32>
  %reshape = reshape %cst_f32 : tile<f32> -> tile<1xf32>
  %bcast = broadcast %reshape : tile<1xf32> -> tile<4xf32>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape_14 = reshape %cst_0_f32 : tile<f32> -> tile<1xf32>
  %bcast_15 = broadcast %reshape_14 : tile<1xf32> -> tile<4xf32>
  %reshape_16 = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast_17 = broadcast %reshape_16 : tile<1x1xf32> -> tile<4x8xf32>
  %17 = exti %assume_assume_11 signed : tile<i32> -> tile<i64>
  %cst_0_i64_18 = constant <i64: 0> : tile<i64>
  %18 = muli %17, %cst_0_i64_18 : tile<i64>
  %19 = offset %assume_9, %18 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
  %result, %result_token = load_ptr_tko weak %19 : tile<ptr<i32>> -> tile<i32>, token
  %20 = exti %result signed : tile<i32> -> tile<i64>
  %21 = mini %9, %20 signed : tile<i64>
  %22 = mini %1, %21 signed : tile<i64>
  %tview = make_tensor_view %assume_2, shape = [%assume_assume, 3, 8], strides = [24, 8, 1] : tile<i32> -> tensor_view<?x3x8xf32, strides=[24,8,1]>
  %pview = make_partition_view %tview : partition_view<tile=(1x4x8), padding_value = zero, tensor_view<?x3x8xf32, strides=[24,8,1]>>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_0_i32_19 = constant <i32: 0> : tile<i32>
  %tile, %result_token_20 = load_view_tko weak %pview[%3, %cst_0_i32, %cst_0_i32_19] : partition_view<tile=(1x4x8), padding_value = zero, tensor_view<?x3x8xf32, strides=[24,8,1]>>, tile<i32> -> tile<1x4x8xf32>, token
  %reshape_21 = reshape %tile : tile<1x4x8xf32> -> tile<4x8xf32>
  %23 = subi %22, %7 : tile<i64>
  %cst_0_i64_22 = constant <i64: 0> : tile<i64>
  %24 = maxi %23, %cst_0_i64_22 signed : tile<i64>
  %25 = trunci %24 : tile<i64> -> tile<i32>
  %cst_4_i32 = constant <i32: 4> : tile<i32>
  %26 = divi %25, %cst_4_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32_23 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for:3 = for %loopIdx in (%cst_0_i32_23 to %26, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast_15, %iterArg1 = %bcast, %iterArg2 = %bcast_17) -> (tile<4xf32>, tile<4xf32>, tile<4x8xf32>) {
    %45 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_4_i64 = constant <i64: 4> : tile<i64>
    %46 = muli %45, %cst_4_i64 : tile<i64>
    %47 = addi %7, %46 : tile<i64>
    %cst_4_i64_35 = constant <i64: 4> : tile<i64>
    %48 = addi %47, %cst_4_i64_35 : tile<i64>
    %49 = mini %48, %22 signed : tile<i64>
    %50 = subi %22, %47 : tile<i64>
    %cst_0_i64_36 = constant <i64: 0> : tile<i64>
    %51 = maxi %50, %cst_0_i64_36 signed : tile<i64>
    %cst_4_i64_37 = constant <i64: 4> : tile<i64>
    %52 = mini %51, %cst_4_i64_37 signed : tile<i64>
    %53 = trunci %52 : tile<i64> -> tile<i32>
    %tview_38 = make_tensor_view %assume_3, shape = [%assume_assume, %assume_0, 8], strides = [%assume_assume_5, 8, 1] : tile<i32> -> tensor_view<?x?x8xf32, strides=[?,8,1]>
    %sview = make_strided_view %tview_38 : strided_view<tile=(1x8x4), traversal_strides=[1,8,1], padding_value = zero, tensor_view<?x?x8xf32, strides=[?,8,1]>, dim_map=[0, 2, 1]>
    %cst_0_i32_39 = constant <i32: 0> : tile<i32>
    %54 = trunci %47 : tile<i64> -> tile<i32>
    %tile_40, %result_token_41 = load_view_tko weak %sview[%3, %cst_0_i32_39, %54] : strided_view<tile=(1x8x4), traversal_strides=[1,8,1], padding_value = zero, tensor_view<?x?x8xf32, strides=[?,8,1]>, dim_map=[0, 2, 1]>, tile<i32> -> tile<1x8x4xf32>, token
    %reshape_42 = reshape %tile_40 : tile<1x8x4xf32> -> tile<8x4xf32>
    %cst_0_f32_43 = constant <f32: 0.000000e+00> : tile<f32>
    %reshape_44 = reshape %cst_0_f32_43 : tile<f32> -> tile<1x1xf32>
    %bcast_45 = broadcast %reshape_44 : tile<1x1xf32> -> tile<4x4xf32>
    %55 = mmaf %reshape_21, %reshape_42, %bcast_45 : tile<4x8xf32>, tile<8x4xf32>, tile<4x4xf32>
    %reshape_46 = reshape %arg10 : tile<f32> -> tile<1x1xf32>
    %bcast_47 = broadcast %reshape_46 : tile<1x1xf32> -> tile<4x4xf32>
    %56 = mulf %55, %bcast_47  : tile<4x4xf32>
    %57 = iota : tile<4xi32>
    %reshape_48 = reshape %53 : tile<i32> -> tile<1xi32>
    %bcast_49 = broadcast %reshape_48 : tile<1xi32> -> tile<4xi32>
    %58 = cmpi less_than %57, %bcast_49, signed : tile<4xi32> -> tile<4xi1>
    %reshape_50 = reshape %58 : tile<4xi1> -> tile<1x4xi1>
    %bcast_51 = broadcast %reshape_50 : tile<1x4xi1> -> tile<4x4xi1>
    %cst_f32_52 = constant <f32: 0xFF800000> : tile<4x4xf32>
    %59 = select %bcast_51, %56, %cst_f32_52 : tile<4x4xi1>, tile<4x4xf32>
    %reduce = reduce %59 dim=1 identities=[0xFF800000 : f32] : tile<4x4xf32> -> tile<4xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %78 = maxf %reduce_rhs, %reduce_lhs propagate_nan : tile<f32>
      yield %78 : tile<f32>
    }
    %60 = maxf %iterArg1, %reduce propagate_nan : tile<4xf32>
    %reshape_53 = reshape %60 : tile<4xf32> -> tile<4x1xf32>
    %bcast_54 = broadcast %reshape_53 : tile<4x1xf32> -> tile<4x4xf32>
    %61 = subf %56, %bcast_54  : tile<4x4xf32>
    %62 = exp %61  : tile<4x4xf32>
    %63 = subf %iterArg1, %60  : tile<4xf32>
    %64 = exp %63  : tile<4xf32>
    %65 = iota : tile<4xi32>
    %reshape_55 = reshape %53 : tile<i32> -> tile<1xi32>
    %bcast_56 = broadcast %reshape_55 : tile<1xi32> -> tile<4xi32>
    %66 = cmpi less_than %65, %bcast_56, signed : tile<4xi32> -> tile<4xi1>
    %reshape_57 = reshape %66 : tile<4xi1> -> tile<1x4xi1>
    %bcast_58 = broadcast %reshape_57 : tile<1x4xi1> -> tile<4x4xi1>
    %cst_0_f32_59 = constant <f32: 0.000000e+00> : tile<4x4xf32>
    %67 = select %bcast_58, %62, %cst_0_f32_59 : tile<4x4xi1>, tile<4x4xf32>
    %reduce_60 = reduce %67 dim=1 identities=[0.000000e+00 : f32] : tile<4x4xf32> -> tile<4xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %78 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %78 : tile<f32>
    }
    %68 = fma %iterArg0, %64, %reduce_60  : tile<4xf32>
    %reshape_61 = reshape %64 : tile<4xf32> -> tile<4x1xf32>
    %bcast_62 = broadcast %reshape_61 : tile<4x1xf32> -> tile<4x8xf32>
    %69 = mulf %iterArg2, %bcast_62  : tile<4x8xf32>
    %tview_63 = make_tensor_view %assume_6, shape = [%assume_assume, %assume_0, 8], strides = [%assume_assume_8, 8, 1] : tile<i32> -> tensor_view<?x?x8xf32, strides=[?,8,1]>
    %sview_64 = make_strided_view %tview_63 : strided_view<tile=(1x4x8), traversal_strides=[1,1,8], padding_value = zero, tensor_view<?x?x8xf32, strides=[?,8,1]>>
    %70 = trunci %47 : tile<i64> -> tile<i32>
    %cst_0_i32_65 = constant <i32: 0> : tile<i32>
    %tile_66, %result_token_67 = load_view_tko weak %sview_64[%3, %70, %cst_0_i32_65] : strided_view<tile=(1x4x8), traversal_strides=[1,1,8], padding_value = zero, tensor_view<?x?x8xf32, strides=[?,8,1]>>, tile<i32> -> tile<1x4x8xf32>, token
    %reshape_68 = reshape %tile_66 : tile<1x4x8xf32> -> tile<4x8xf32>
    %reshape_69 = reshape %cst_0_f32_43 : tile<f32> -> tile<1x1xf32>
    %bcast_70 = broadcast %reshape_69 : tile<1x1xf32> -> tile<4x8xf32>
    %71 = iota : tile<4xi32>
    %reshape_71 = reshape %53 : tile<i32> -> tile<1xi32>
    %bcast_72 = broadcast %reshape_71 : tile<1xi32> -> tile<4xi32>
    %72 = cmpi less_than %71, %bcast_72, signed : tile<4xi32> -> tile<4xi1>
    %reshape_73 = reshape %72 : tile<4xi1> -> tile<1x4xi1>
    %bcast_74 = broadcast %reshape_73 : tile<1x4xi1> -> tile<4x4xi1>
    %cst_0_f32_75 = constant <f32: 0.000000e+00> : tile<4x4xf32>
    %73 = select %bcast_74, %62, %cst_0_f32_75 : tile<4x4xi1>, tile<4x4xf32>
    %74 = iota : tile<4xi32>
    %reshape_76 = reshape %53 : tile<i32> -> tile<1xi32>
    %bcast_77 = broadcast %reshape_76 : tile<1xi32> -> tile<4xi32>
    %75 = cmpi less_than %74, %bcast_77, signed : tile<4xi32> -> tile<4xi1>
    %reshape_78 = reshape %75 : tile<4xi1> -> tile<4x1xi1>
    %bcast_79 = broadcast %reshape_78 : tile<4x1xi1> -> tile<4x8xi1>
    %cst_0_f32_80 = constant <f32: 0.000000e+00> : tile<4x8xf32>
    %76 = select %bcast_79, %reshape_68, %cst_0_f32_80 : tile<4x8xi1>, tile<4x8xf32>
    %77 = mmaf %73, %76, %69 : tile<4x4xf32>, tile<4x8xf32>, tile<4x8xf32>
    continue %68, %60, %77 : tile<4xf32>, tile<4xf32>, tile<4x8xf32>
  }
  %27 = ptr_to_int %arg14 : tile<ptr<i8>> -> tile<i64>
  %cst_384_i64 = constant <i64: 384> : tile<i64>
  %28 = muli %16, %cst_384_i64 : tile<i64>
  %29 = addi %27, %28 : tile<i64>
  %cst_0_i64_24 = constant <i64: 0> : tile<i64>
  %30 = addi %29, %cst_0_i64_24 : tile<i64>
  %31 = int_to_ptr %30 : tile<i64> -> tile<ptr<f32>>
  %assume_25 = assume div_by<16>, %31 : tile<ptr<f32>>
  %32 = iota : tile<4xi32>
  %reshape_26 = reshape %assume_25 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_27 = broadcast %reshape_26 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %33 = offset %bcast_27, %32 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %cst_128_i64 = constant <i64: 128> : tile<i64>
  %34 = addi %29, %cst_128_i64 : tile<i64>
  %35 = int_to_ptr %34 : tile<i64> -> tile<ptr<f32>>
  %assume_28 = assume div_by<16>, %35 : tile<ptr<f32>>
  %36 = iota : tile<4xi32>
  %reshape_29 = reshape %assume_28 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_30 = broadcast %reshape_29 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %37 = offset %bcast_30, %36 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %cst_256_i64 = constant <i64: 256> : tile<i64>
  %38 = addi %29, %cst_256_i64 : tile<i64>
  %39 = int_to_ptr %38 : tile<i64> -> tile<ptr<f32>>
  %assume_31 = assume div_by<16>, %39 : tile<ptr<f32>>
  %40 = iota : tile<32xi32>
  %reshape_32 = reshape %40 : tile<32xi32> -> tile<4x8xi32>
  %reshape_33 = reshape %assume_31 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bcast_34 = broadcast %reshape_33 : tile<1x1xptr<f32>> -> tile<4x8xptr<f32>>
  %41 = offset %bcast_34, %reshape_32 : tile<4x8xptr<f32>>, tile<4x8xi32> -> tile<4x8xptr<f32>>
  %42 = store_ptr_tko weak %33, %for#1 : tile<4xptr<f32>>, tile<4xf32> -> token
  %43 = store_ptr_tko weak %37, %for#0 : tile<4xptr<f32>>, tile<4xf32> -> token
  %44 = store_ptr_tko weak %41, %for#2 : tile<4x8xptr<f32>>, tile<4x8xf32> -> token
  return
}
entry @decode_attention_after(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<f32>>, %arg5: tile<i32>, %arg6: tile<ptr<i32>>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<f32>, %arg11: tile<i32>, %arg12: tile<i32>, %arg13: tile<i32>, %arg14: tile<ptr<i8>>) {
  %assume = assume bounded<0, ?>, %arg8 : tile<i32>
  %assume_assume = assume div_by<2>, %assume : tile<i32>
  %0 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg9 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_2 = assume div_by<16>, %arg1 : tile<ptr<f32>>
  %assume_3 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_4 = assume div_by<8>, %arg3 : tile<i32>
  %assume_assume_5 = assume bounded<0, ?>, %assume_4 : tile<i32>
  %assume_6 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_7 = assume div_by<8>, %arg5 : tile<i32>
  %assume_assume_8 = assume bounded<0, ?>, %assume_7 : tile<i32>
  %assume_9 = assume div_by<16>, %arg6 : tile<ptr<i32>>
  %assume_10 = assume div_by<16>, %arg7 : tile<i32>
  %assume_assume_11 = assume bounded<0, ?>, %assume_10 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %2 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %3 = addi %2, %cst_1_i64 : tile<i64>
  %4 = exti %arg13 signed : tile<i32> -> tile<i64>
  %5 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %6 = addi %4, %5 : tile<i64>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %7 = muli %blockId_x, %arg12 : tile<i32>
  %8 = addi %7, %cst_0_i32 : tile<i32>
  %9 = exti %8 signed : tile<i32> -> tile<i64>
  %10 = ptr_to_int %arg14 : tile<ptr<i8>> -> tile<i64>
  %cst_384_i64 = constant <i64: 384> : tile<i64>
  %11 = muli %9, %cst_384_i64 : tile<i64>
  %12 = addi %10, %11 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %13 = addi %12, %cst_0_i64 : tile<i64>
  %14 = int_to_ptr %13 : tile<i64> -> tile<ptr<f32>>
  %assume_12 = assume div_by<16>, %14 : tile<ptr<f32>>
  %15 = iota : tile<4xi32>
  %reshape = reshape %assume_12 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast = broadcast %reshape : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %16 = offset %bcast, %15 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %cst_128_i64 = constant <i64: 128> : tile<i64>
  %17 = addi %12, %cst_128_i64 : tile<i64>
  %18 = int_to_ptr %17 : tile<i64> -> tile<ptr<f32>>
  %assume_13 = assume div_by<16>, %18 : tile<ptr<f32>>
  %19 = iota : tile<4xi32>
  %reshape_14 = reshape %assume_13 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bcast_15 = broadcast %reshape_14 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %20 = offset %bcast_15, %19 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %cst_256_i64 = constant <i64: 256> : tile<i64>
  %21 = addi %12, %cst_256_i64 : tile<i64>
  %22 = int_to_ptr %21 : tile<i64> -> tile<ptr<f32>>
  %assume_16 = assume div_by<16>, %22 : tile<ptr<f32>>
  %23 = iota : tile<32xi32>
  %reshape_17 = reshape %23 : tile<32xi32> -> tile<4x8xi32>
  %reshape_18 = reshape %assume_16 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bcast_19 = broadcast %reshape_18 : tile<1x1xptr<f32>> -> tile<4x8xptr<f32>>
  %24 = offset %bcast_19, %reshape_17 : tile<4x8xptr<f32>>, tile<4x8xi32> -> tile<4x8xptr<f32>>
  %result, %result_token = load_ptr_tko weak %16 : tile<4xptr<f32>> -> tile<4xf32>, token
  %result_20, %result_token_21 = load_ptr_tko weak %20 : tile<4xptr<f32>> -> tile<4xf32>, token
  %result_22, %result_token_23 = load_ptr_tko weak %24 : tile<4x8xptr<f32>> -> tile<4x8xf32>, token
  %for:3 = for %loopIdx in (%cst_1_i32 to %arg12, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %result, %iterArg1 = %result_20, %iterArg2 = %result_22) -> (tile<4xf32>, tile<4xf32>, tile<4x8xf32>) {
    %27 = muli %blockId_x, %arg12 : tile<i32>
    %28 = addi %27, %loopIdx : tile<i32>
    %29 = exti %28 signed : tile<i32> -> tile<i64>
    %30 = ptr_to_int %arg14 : tile<ptr<i8>> -> tile<i64>
    %cst_384_i64_29 = constant <i64: 384> : tile<i64>
    %31 = muli %29, %cst_384_i64_29 : tile<i64>
    %32 = addi %30, %31 : tile<i64>
    %cst_0_i64_30 = constant <i64: 0> : tile<i64>
    %33 = addi %32, %cst_0_i64_30 : tile<i64>
    %34 = int_to_ptr %33 : tile<i64> -> tile<ptr<f32>>
    %assume_31 = assume div_by<16>, %34 : tile<ptr<f32>>
    %35 = iota : tile<4xi32>
    %reshape_32 = reshape %assume_31 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_33 = broadcast %reshape_32 : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %36 = offset %bcast_33, %35 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %cst_128_i64_34 = constant <i64: 128> : tile<i64>
    %37 = addi %32, %cst_128_i64_34 : tile<i64>
    %38 = int_to_ptr %37 : tile<i64> -> tile<ptr<f32>>
    %assume_35 = assume div_by<16>, %38 : tile<ptr<f32>>
    %39 = iota : tile<4xi32>
    %reshape_36 = reshape %assume_35 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_37 = broadcast %reshape_36 : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %40 = offset %bcast_37, %39 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %cst_256_i64_38 = constant <i64: 256> : tile<i64>
    %41 = addi %32, %cst_256_i64_38 : tile<i64>
    %42 = int_to_ptr %41 : tile<i64> -> tile<ptr<f32>>
    %assume_39 = assume div_by<16>, %42 : tile<ptr<f32>>
    %43 = iota : tile<32xi32>
    %reshape_40 = reshape %43 : tile<32xi32> -> tile<4x8xi32>
    %reshape_41 = reshape %assume_39 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %bcast_42 = broadcast %reshape_41 : tile<1x1xptr<f32>> -> tile<4x8xptr<f32>>
    %44 = offset %bcast_42, %reshape_40 : tile<4x8xptr<f32>>, tile<4x8xi32> -> tile<4x8xptr<f32>>
    %result_43, %result_token_44 = load_ptr_tko weak %36 : tile<4xptr<f32>> -> tile<4xf32>, token
    %result_45, %result_token_46 = load_ptr_tko weak %40 : tile<4xptr<f32>> -> tile<4xf32>, token
    %result_47, %result_token_48 = load_ptr_tko weak %44 : tile<4x8xptr<f32>> -> tile<4x8xf32>, token
    %45 = maxf %iterArg0, %result_43 propagate_nan : tile<4xf32>
    %46 = subf %iterArg0, %45  : tile<4xf32>
    %47 = exp %46  : tile<4xf32>
    %48 = subf %result_43, %45  : tile<4xf32>
    %49 = exp %48  : tile<4xf32>
    %50 = mulf %result_45, %49  : tile<4xf32>
    %51 = fma %iterArg1, %47, %50  : tile<4xf32>
    %reshape_49 = reshape %47 : tile<4xf32> -> tile<4x1xf32>
    %bcast_50 = broadcast %reshape_49 : tile<4x1xf32> -> tile<4x8xf32>
    %reshape_51 = reshape %49 : tile<4xf32> -> tile<4x1xf32>
    %bcast_52 = broadcast %reshape_51 : tile<4x1xf32> -> tile<4x8xf32>
    %52 = mulf %result_47, %bcast_52  : tile<4x8xf32>
    %53 = fma %iterArg2, %bcast_50, %52  : tile<4x8xf32>
    continue %45, %51, %53 : tile<4xf32>, tile<4xf32>, tile<4x8xf32>
  }
  %reshape_24 = reshape %for#1 : tile<4xf32> -> tile<4x1xf32>
  %bcast_25 = broadcast %reshape_24 : tile<4x1xf32> -> tile<4x8xf32>
  %25 = divf %for#2, %bcast_25 rounding<full> : tile<4x8xf32>
  %reshape_26 = reshape %25 : tile<4x8xf32> -> tile<1x4x8xf32>
  %tview = make_tensor_view %assume_1, shape = [%assume_assume, 3, 8], strides = [24, 8, 1] : tile<i32> -> tensor_view<?x3x8xf32, strides=[24,8,1]>
  %pview = make_partition_view %tview : partition_view<tile=(1x4x8), tensor_view<?x3x8xf32, strides=[24,8,1]>>
  %cst_0_i32_27 = constant <i32: 0> : tile<i32>
  %cst_0_i32_28 = constant <i32: 0> : tile<i32>
  %26 = store_view_tko weak %reshape_26, %pview[%blockId_x, %cst_0_i32_27, %cst_0_i32_28] : tile<1x4x8xf32>, partition_view<tile=(1x4x8), tensor_view<?x3x8xf32, strides=[24,8,1]>>, tile<i32> -> token
  return
}
