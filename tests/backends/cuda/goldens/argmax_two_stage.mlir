// Producer: tileproof
entry @argmax_two_stage(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<f32>>, %arg2: tile<i32>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<ptr<i8>>) {
  %assume = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_assume = assume div_by<2>, %assume : tile<i32>
  %0 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg4 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<i32>>
  %assume_2 = assume div_by<16>, %arg1 : tile<ptr<f32>>
  %assume_3 = assume bounded<0, ?>, %arg2 : tile<i32>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %2 = cmpi greater_than_or_equal %1, %cst_1_i64, signed : tile<i64> -> tile<i1>
  %3 = gdc_launch_dependents_tko -> token
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %4 = remi %blockId_x, %arg6 signed : tile<i32>
  %5 = divi %blockId_x, %arg6 signed : tile<i32>
  %6 = exti %5 signed : tile<i32> -> tile<i64>
  %cst_1_i64_4 = constant <i64: 1> : tile<i64>
  %7 = addi %6, %cst_1_i64_4 : tile<i64>
  %8 = exti %4 signed : tile<i32> -> tile<i64>
  %cst_16_i64 = constant <i64: 16> : tile<i64>
  %9 = muli %8, %cst_16_i64 : tile<i64>
  %cst_16_i64_5 = constant <i64: 16> : tile<i64>
  %10 = addi %9, %cst_16_i64_5 : tile<i64>
  %11 = mini %10, %1 signed : tile<i64>
  %12 = subi %1, %9 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %13 = maxi %12, %cst_0_i64 signed : tile<i64>
  %cst_16_i64_6 = constant <i64: 16> : tile<i64>
  %14 = mini %13, %cst_16_i64_6 signed : tile<i64>
  %15 = trunci %14 : tile<i64> -> tile<i32>
  %16 = muli %5, %arg6 : tile<i32>
  %17 = addi %16, %4 : tile<i32>
  %18 = exti %17 signed : tile<i32> -> tile<i64>
  %cst_f32 = constant <f32: 0xFF800000> : tile<f32>
  %19 = mini %1, %11 signed : tile<i64>
  %20 = subi %19, %9 : tile<i64>
  %cst_0_i64_7 = constant <i64: 0> : tile<i64>
  %21 = maxi %20, %cst_0_i64_7 signed : tile<i64>
  %22 = trunci %21 : tile<i64> -> tile<i32>
  %cst_4_i32 = constant <i32: 4> : tile<i32>
  %23 = divi %22, %cst_4_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for:2 = for %loopIdx in (%cst_0_i32 to %23, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %cst_f32, %iterArg1 = %9) -> (tile<f32>, tile<i64>) {
    %33 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_4_i64 = constant <i64: 4> : tile<i64>
    %34 = muli %33, %cst_4_i64 : tile<i64>
    %35 = addi %9, %34 : tile<i64>
    %cst_4_i64_11 = constant <i64: 4> : tile<i64>
    %36 = addi %35, %cst_4_i64_11 : tile<i64>
    %37 = trunci %9 : tile<i64> -> tile<i32>
    %cst_4_i32_12 = constant <i32: 4> : tile<i32>
    %38 = divi %37, %cst_4_i32_12 signed : tile<i32>
    %39 = addi %38, %loopIdx : tile<i32>
    %40 = mini %36, %19 signed : tile<i64>
    %41 = subi %19, %35 : tile<i64>
    %cst_0_i64_13 = constant <i64: 0> : tile<i64>
    %42 = maxi %41, %cst_0_i64_13 signed : tile<i64>
    %cst_4_i64_14 = constant <i64: 4> : tile<i64>
    %43 = mini %42, %cst_4_i64_14 signed : tile<i64>
    %44 = trunci %43 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_2, shape = [%assume_assume, %assume_0], strides = [%assume_3, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(1x4), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%5, %39] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x4), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x4xf32>, token
    %reshape = reshape %tile : tile<1x4xf32> -> tile<4xf32>
    %45 = iota : tile<4xi32>
    %reshape_15 = reshape %44 : tile<i32> -> tile<1xi32>
    %bcast = broadcast %reshape_15 : tile<1xi32> -> tile<4xi32>
    %46 = cmpi less_than %45, %bcast, signed : tile<4xi32> -> tile<4xi1>
    %cst_f32_16 = constant <f32: 0xFF800000> : tile<4xf32>
    %47 = select %46, %reshape, %cst_f32_16 : tile<4xi1>, tile<4xf32>
    %reduce = reduce %47 dim=0 identities=[0xFF800000 : f32] : tile<4xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %71 = maxf %reduce_rhs, %reduce_lhs propagate_nan : tile<f32>
      yield %71 : tile<f32>
    }
    %48 = bitcast %reshape : tile<4xf32> -> tile<4xi32>
    %cst_31_i32 = constant <i32: 31> : tile<4xi32>
    %49 = shri %48, %cst_31_i32 signed : tile<4xi32>
    %cst_2147483647_i32 = constant <i32: 2147483647> : tile<4xi32>
    %50 = andi %49, %cst_2147483647_i32 : tile<4xi32>
    %51 = xori %48, %50 : tile<4xi32>
    %cst_0_f32 = constant <f32: 0.000000e+00> : tile<4xf32>
    %52 = cmpf equal ordered %reshape, %cst_0_f32 : tile<4xf32> -> tile<4xi1>
    %cst_0_i32_17 = constant <i32: 0> : tile<4xi32>
    %53 = select %52, %cst_0_i32_17, %51 : tile<4xi1>, tile<4xi32>
    %54 = cmpf not_equal unordered %reshape, %reshape : tile<4xf32> -> tile<4xi1>
    %cst_2147483647_i32_18 = constant <i32: 2147483647> : tile<4xi32>
    %55 = select %54, %cst_2147483647_i32_18, %53 : tile<4xi1>, tile<4xi32>
    %56 = iota : tile<4xi32>
    %57 = iota : tile<4xi32>
    %reshape_19 = reshape %44 : tile<i32> -> tile<1xi32>
    %bcast_20 = broadcast %reshape_19 : tile<1xi32> -> tile<4xi32>
    %58 = cmpi less_than %57, %bcast_20, signed : tile<4xi32> -> tile<4xi1>
    %cst_-2147483648_i32 = constant <i32: -2147483648> : tile<4xi32>
    %59 = select %58, %55, %cst_-2147483648_i32 : tile<4xi1>, tile<4xi32>
    %cst_2147483647_i32_21 = constant <i32: 2147483647> : tile<4xi32>
    %60 = select %58, %56, %cst_2147483647_i32_21 : tile<4xi1>, tile<4xi32>
    %reduce_22:2 = reduce %59, %60 dim=0 identities=[-2147483648 : i32, 2147483647 : i32] : tile<4xi32>, tile<4xi32> -> tile<i32>, tile<i32> 
    (%reduce_lhs0: tile<i32>, %reduce_rhs0: tile<i32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>) {
      %71 = cmpi greater_than %reduce_lhs0, %reduce_rhs0, signed : tile<i32> -> tile<i1>
      %72 = cmpi equal %reduce_lhs0, %reduce_rhs0, signed : tile<i32> -> tile<i1>
      %73 = cmpi less_than %reduce_lhs1, %reduce_rhs1, signed : tile<i32> -> tile<i1>
      %74 = andi %72, %73 : tile<i1>
      %75 = ori %71, %74 : tile<i1>
      %76 = select %75, %reduce_lhs0, %reduce_rhs0 : tile<i1>, tile<i32>
      %77 = select %75, %reduce_lhs1, %reduce_rhs1 : tile<i1>, tile<i32>
      yield %76, %77 : tile<i32>, tile<i32>
    }
    %61 = exti %reduce_22#1 signed : tile<i32> -> tile<i64>
    %62 = addi %35, %61 : tile<i64>
    %63 = cmpf greater_than ordered %reduce, %iterArg0 : tile<f32> -> tile<i1>
    %64 = cmpf not_equal unordered %reduce, %reduce : tile<f32> -> tile<i1>
    %65 = cmpf not_equal unordered %iterArg0, %iterArg0 : tile<f32> -> tile<i1>
    %true = constant <i1: true> : tile<i1>
    %66 = xori %65, %true : tile<i1>
    %67 = andi %64, %66 : tile<i1>
    %68 = ori %63, %67 : tile<i1>
    %69 = select %68, %reduce, %iterArg0 : tile<i1>, tile<f32>
    %70 = select %68, %62, %iterArg1 : tile<i1>, tile<i64>
    continue %69, %70 : tile<f32>, tile<i64>
  }
  %24 = ptr_to_int %arg8 : tile<ptr<i8>> -> tile<i64>
  %cst_256_i64 = constant <i64: 256> : tile<i64>
  %25 = muli %18, %cst_256_i64 : tile<i64>
  %26 = addi %24, %25 : tile<i64>
  %cst_0_i64_8 = constant <i64: 0> : tile<i64>
  %27 = addi %26, %cst_0_i64_8 : tile<i64>
  %28 = int_to_ptr %27 : tile<i64> -> tile<ptr<f32>>
  %assume_9 = assume div_by<16>, %28 : tile<ptr<f32>>
  %cst_128_i64 = constant <i64: 128> : tile<i64>
  %29 = addi %26, %cst_128_i64 : tile<i64>
  %30 = int_to_ptr %29 : tile<i64> -> tile<ptr<i64>>
  %assume_10 = assume div_by<16>, %30 : tile<ptr<i64>>
  %31 = store_ptr_tko weak %assume_9, %for#0 : tile<ptr<f32>>, tile<f32> -> token
  %32 = store_ptr_tko weak %assume_10, %for#1 : tile<ptr<i64>>, tile<i64> -> token
  return
}
entry @argmax_two_stage_after(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<f32>>, %arg2: tile<i32>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<ptr<i8>>) {
  %assume = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_assume = assume div_by<2>, %assume : tile<i32>
  %0 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg4 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume div_by<16>, %arg0 : tile<ptr<i32>>
  %assume_2 = assume div_by<16>, %arg1 : tile<ptr<f32>>
  %assume_3 = assume bounded<0, ?>, %arg2 : tile<i32>
  %2 = gdc_wait_tko -> token
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %3 = cmpi greater_than_or_equal %1, %cst_1_i64, signed : tile<i64> -> tile<i1>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %4 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_1_i64_4 = constant <i64: 1> : tile<i64>
  %5 = addi %4, %cst_1_i64_4 : tile<i64>
  %6 = exti %arg7 signed : tile<i32> -> tile<i64>
  %7 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %8 = addi %6, %7 : tile<i64>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %cst_4_i32 = constant <i32: 4> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %9 = muli %blockId_x, %arg6 : tile<i32>
  %10 = addi %9, %cst_0_i32 : tile<i32>
  %11 = exti %10 signed : tile<i32> -> tile<i64>
  %12 = ptr_to_int %arg8 : tile<ptr<i8>> -> tile<i64>
  %cst_256_i64 = constant <i64: 256> : tile<i64>
  %13 = muli %11, %cst_256_i64 : tile<i64>
  %14 = addi %12, %13 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %15 = addi %14, %cst_0_i64 : tile<i64>
  %16 = int_to_ptr %15 : tile<i64> -> tile<ptr<f32>>
  %assume_5 = assume div_by<16>, %16 : tile<ptr<f32>>
  %cst_128_i64 = constant <i64: 128> : tile<i64>
  %17 = addi %14, %cst_128_i64 : tile<i64>
  %18 = int_to_ptr %17 : tile<i64> -> tile<ptr<i64>>
  %assume_6 = assume div_by<16>, %18 : tile<ptr<i64>>
  %result, %result_token = load_ptr_tko weak %assume_5 token=%2 : tile<ptr<f32>> -> tile<f32>, token
  %result_7, %result_token_8 = load_ptr_tko weak %assume_6 token=%2 : tile<ptr<i64>> -> tile<i64>, token
  %for:2 = for %loopIdx in (%cst_1_i32 to %arg6, step %cst_4_i32) : tile<i32> iter_values(%iterArg0 = %result, %iterArg1 = %result_7) -> (tile<f32>, tile<i64>) {
    %cst_1_i32_9 = constant <i32: 1> : tile<i32>
    %24 = subi %arg6, %cst_1_i32_9 : tile<i32>
    %cst_1_i32_10 = constant <i32: 1> : tile<i32>
    %25 = addi %loopIdx, %cst_1_i32_10 : tile<i32>
    %cst_2_i32 = constant <i32: 2> : tile<i32>
    %26 = addi %loopIdx, %cst_2_i32 : tile<i32>
    %cst_3_i32 = constant <i32: 3> : tile<i32>
    %27 = addi %loopIdx, %cst_3_i32 : tile<i32>
    %28 = muli %blockId_x, %arg6 : tile<i32>
    %29 = addi %28, %loopIdx : tile<i32>
    %30 = exti %29 signed : tile<i32> -> tile<i64>
    %31 = ptr_to_int %arg8 : tile<ptr<i8>> -> tile<i64>
    %cst_256_i64_11 = constant <i64: 256> : tile<i64>
    %32 = muli %30, %cst_256_i64_11 : tile<i64>
    %33 = addi %31, %32 : tile<i64>
    %cst_0_i64_12 = constant <i64: 0> : tile<i64>
    %34 = addi %33, %cst_0_i64_12 : tile<i64>
    %35 = int_to_ptr %34 : tile<i64> -> tile<ptr<f32>>
    %assume_13 = assume div_by<16>, %35 : tile<ptr<f32>>
    %cst_128_i64_14 = constant <i64: 128> : tile<i64>
    %36 = addi %33, %cst_128_i64_14 : tile<i64>
    %37 = int_to_ptr %36 : tile<i64> -> tile<ptr<i64>>
    %assume_15 = assume div_by<16>, %37 : tile<ptr<i64>>
    %result_16, %result_token_17 = load_ptr_tko weak %assume_13 token=%2 : tile<ptr<f32>> -> tile<f32>, token
    %result_18, %result_token_19 = load_ptr_tko weak %assume_15 token=%2 : tile<ptr<i64>> -> tile<i64>, token
    %38 = mini %25, %24 signed : tile<i32>
    %39 = muli %blockId_x, %arg6 : tile<i32>
    %40 = addi %39, %38 : tile<i32>
    %41 = exti %40 signed : tile<i32> -> tile<i64>
    %42 = ptr_to_int %arg8 : tile<ptr<i8>> -> tile<i64>
    %cst_256_i64_20 = constant <i64: 256> : tile<i64>
    %43 = muli %41, %cst_256_i64_20 : tile<i64>
    %44 = addi %42, %43 : tile<i64>
    %cst_0_i64_21 = constant <i64: 0> : tile<i64>
    %45 = addi %44, %cst_0_i64_21 : tile<i64>
    %46 = int_to_ptr %45 : tile<i64> -> tile<ptr<f32>>
    %assume_22 = assume div_by<16>, %46 : tile<ptr<f32>>
    %cst_128_i64_23 = constant <i64: 128> : tile<i64>
    %47 = addi %44, %cst_128_i64_23 : tile<i64>
    %48 = int_to_ptr %47 : tile<i64> -> tile<ptr<i64>>
    %assume_24 = assume div_by<16>, %48 : tile<ptr<i64>>
    %result_25, %result_token_26 = load_ptr_tko weak %assume_22 token=%2 : tile<ptr<f32>> -> tile<f32>, token
    %result_27, %result_token_28 = load_ptr_tko weak %assume_24 token=%2 : tile<ptr<i64>> -> tile<i64>, token
    %49 = mini %26, %24 signed : tile<i32>
    %50 = muli %blockId_x, %arg6 : tile<i32>
    %51 = addi %50, %49 : tile<i32>
    %52 = exti %51 signed : tile<i32> -> tile<i64>
    %53 = ptr_to_int %arg8 : tile<ptr<i8>> -> tile<i64>
    %cst_256_i64_29 = constant <i64: 256> : tile<i64>
    %54 = muli %52, %cst_256_i64_29 : tile<i64>
    %55 = addi %53, %54 : tile<i64>
    %cst_0_i64_30 = constant <i64: 0> : tile<i64>
    %56 = addi %55, %cst_0_i64_30 : tile<i64>
    %57 = int_to_ptr %56 : tile<i64> -> tile<ptr<f32>>
    %assume_31 = assume div_by<16>, %57 : tile<ptr<f32>>
    %cst_128_i64_32 = constant <i64: 128> : tile<i64>
    %58 = addi %55, %cst_128_i64_32 : tile<i64>
    %59 = int_to_ptr %58 : tile<i64> -> tile<ptr<i64>>
    %assume_33 = assume div_by<16>, %59 : tile<ptr<i64>>
    %result_34, %result_token_35 = load_ptr_tko weak %assume_31 token=%2 : tile<ptr<f32>> -> tile<f32>, token
    %result_36, %result_token_37 = load_ptr_tko weak %assume_33 token=%2 : tile<ptr<i64>> -> tile<i64>, token
    %60 = mini %27, %24 signed : tile<i32>
    %61 = muli %blockId_x, %arg6 : tile<i32>
    %62 = addi %61, %60 : tile<i32>
    %63 = exti %62 signed : tile<i32> -> tile<i64>
    %64 = ptr_to_int %arg8 : tile<ptr<i8>> -> tile<i64>
    %cst_256_i64_38 = constant <i64: 256> : tile<i64>
    %65 = muli %63, %cst_256_i64_38 : tile<i64>
    %66 = addi %64, %65 : tile<i64>
    %cst_0_i64_39 = constant <i64: 0> : tile<i64>
    %67 = addi %66, %cst_0_i64_39 : tile<i64>
    %68 = int_to_ptr %67 : tile<i64> -> tile<ptr<f32>>
    %assume_40 = assume div_by<16>, %68 : tile<ptr<f32>>
    %cst_128_i64_41 = constant <i64: 128> : tile<i64>
    %69 = addi %66, %cst_128_i64_41 : tile<i64>
    %70 = int_to_ptr %69 : tile<i64> -> tile<ptr<i64>>
    %assume_42 = assume div_by<16>, %70 : tile<ptr<i64>>
    %result_43, %result_token_44 = load_ptr_tko weak %assume_40 token=%2 : tile<ptr<f32>> -> tile<f32>, token
    %result_45, %result_token_46 = load_ptr_tko weak %assume_42 token=%2 : tile<ptr<i64>> -> tile<i64>, token
    %71 = cmpf greater_than ordered %result_16, %iterArg0 : tile<f32> -> tile<i1>
    %72 = cmpf not_equal unordered %result_16, %result_16 : tile<f32> -> tile<i1>
    %73 = cmpf not_equal unordered %iterArg0, %iterArg0 : tile<f32> -> tile<i1>
    %true = constant <i1: true> : tile<i1>
    %74 = xori %73, %true : tile<i1>
    %75 = andi %72, %74 : tile<i1>
    %76 = ori %71, %75 : tile<i1>
    %77 = select %76, %result_16, %iterArg0 : tile<i1>, tile<f32>
    %78 = select %76, %result_18, %iterArg1 : tile<i1>, tile<i64>
    %79 = cmpf greater_than ordered %result_25, %77 : tile<f32> -> tile<i1>
    %80 = cmpf not_equal unordered %result_25, %result_25 : tile<f32> -> tile<i1>
    %81 = cmpf not_equal unordered %77, %77 : tile<f32> -> tile<i1>
    %true_47 = constant <i1: true> : tile<i1>
    %82 = xori %81, %true_47 : tile<i1>
    %83 = andi %80, %82 : tile<i1>
    %84 = ori %79, %83 : tile<i1>
    %85 = select %84, %result_25, %77 : tile<i1>, tile<f32>
    %86 = select %84, %result_27, %78 : tile<i1>, tile<i64>
    %87 = cmpi less_than_or_equal %25, %24, signed : tile<i32> -> tile<i1>
    %88 = select %87, %85, %77 : tile<i1>, tile<f32>
    %89 = select %87, %86, %78 : tile<i1>, tile<i64>
    %90 = cmpf greater_than ordered %result_34, %88 : tile<f32> -> tile<i1>
    %91 = cmpf not_equal unordered %result_34, %result_34 : tile<f32> -> tile<i1>
    %92 = cmpf not_equal unordered %88, %88 : tile<f32> -> tile<i1>
    %true_48 = constant <i1: true> : tile<i1>
    %93 = xori %92, %true_48 : tile<i1>
    %94 = andi %91, %93 : tile<i1>
    %95 = ori %90, %94 : tile<i1>
    %96 = select %95, %result_34, %88 : tile<i1>, tile<f32>
    %97 = select %95, %result_36, %89 : tile<i1>, tile<i64>
    %98 = cmpi less_than_or_equal %26, %24, signed : tile<i32> -> tile<i1>
    %99 = select %98, %96, %88 : tile<i1>, tile<f32>
    %100 = select %98, %97, %89 : tile<i1>, tile<i64>
    %101 = cmpf greater_than ordered %result_43, %99 : tile<f32> -> tile<i1>
    %102 = cmpf not_equal unordered %result_43, %result_43 : tile<f32> -> tile<i1>
    %103 = cmpf not_equal unordered %99, %99 : tile<f32> -> tile<i1>
    %true_49 = constant <i1: true> : tile<i1>
    %104 = xori %103, %true_49 : tile<i1>
    %105 = andi %102, %104 : tile<i1>
    %106 = ori %101, %105 : tile<i1>
    %107 = select %106, %result_43, %99 : tile<i1>, tile<f32>
    %108 = select %106, %result_45, %100 : tile<i1>, tile<i64>
    %109 = cmpi less_than_or_equal %27, %24, signed : tile<i32> -> tile<i1>
    %110 = select %109, %107, %99 : tile<i1>, tile<f32>
    %111 = select %109, %108, %100 : tile<i1>, tile<i64>
    continue %110, %111 : tile<f32>, tile<i64>
  }
  %cst_-2147483648_i64 = constant <i64: -2147483648> : tile<i64>
  %19 = maxi %for#1, %cst_-2147483648_i64 signed : tile<i64>
  %cst_2147483647_i64 = constant <i64: 2147483647> : tile<i64>
  %20 = mini %19, %cst_2147483647_i64 signed : tile<i64>
  %21 = trunci %20 : tile<i64> -> tile<i32>
  %22 = offset %assume_1, %4 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
  %23 = store_ptr_tko weak %22, %21 token=%2 : tile<ptr<i32>>, tile<i32> -> token
  return
}
