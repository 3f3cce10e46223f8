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
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %3 = remi %blockId_x, %arg6 signed : tile<i32>
  %4 = divi %blockId_x, %arg6 signed : tile<i32>
  %5 = exti %4 signed : tile<i32> -> tile<i64>
  %cst_1_i64_4 = constant <i64: 1> : tile<i64>
  %6 = addi %5, %cst_1_i64_4 : tile<i64>
  %7 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_16_i64 = constant <i64: 16> : tile<i64>
  %8 = muli %7, %cst_16_i64 : tile<i64>
  %cst_16_i64_5 = constant <i64: 16> : tile<i64>
  %9 = addi %8, %cst_16_i64_5 : tile<i64>
  %10 = mini %9, %1 signed : tile<i64>
  %11 = subi %1, %8 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %12 = maxi %11, %cst_0_i64 signed : tile<i64>
  %cst_16_i64_6 = constant <i64: 16> : tile<i64>
  %13 = mini %12, %cst_16_i64_6 signed : tile<i64>
  %14 = trunci %13 : tile<i64> -> tile<i32>
  %15 = muli %4, %arg6 : tile<i32>
  %16 = addi %15, %3 : tile<i32>
  %17 = exti %16 signed : tile<i32> -> tile<i64>
  %cst_f32 = constant <f32: 0xFF800000> : tile<f32>
  %18 = mini %1, %10 signed : tile<i64>
  %19 = subi %18, %8 : tile<i64>
  %cst_0_i64_7 = constant <i64: 0> : tile<i64>
  %20 = maxi %19, %cst_0_i64_7 signed : tile<i64>
  %21 = trunci %20 : tile<i64> -> tile<i32>
  %cst_4_i32 = constant <i32: 4> : tile<i32>
  %22 = divi %21, %cst_4_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for:2 = for %loopIdx in (%cst_0_i32 to %22, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %cst_f32, %iterArg1 = %8) -> (tile<f32>, tile<i64>) {
    %32 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_4_i64 = constant <i64: 4> : tile<i64>
    %33 = muli %32, %cst_4_i64 : tile<i64>
    %34 = addi %8, %33 : tile<i64>
    %cst_4_i64_11 = constant <i64: 4> : tile<i64>
    %35 = addi %34, %cst_4_i64_11 : tile<i64>
    %36 = trunci %8 : tile<i64> -> tile<i32>
    %cst_4_i32_12 = constant <i32: 4> : tile<i32>
    %37 = divi %36, %cst_4_i32_12 signed : tile<i32>
    %38 = addi %37, %loopIdx : tile<i32>
    %39 = mini %35, %18 signed : tile<i64>
    %40 = subi %18, %34 : tile<i64>
    %cst_0_i64_13 = constant <i64: 0> : tile<i64>
    %41 = maxi %40, %cst_0_i64_13 signed : tile<i64>
    %cst_4_i64_14 = constant <i64: 4> : tile<i64>
    %42 = mini %41, %cst_4_i64_14 signed : tile<i64>
    %43 = trunci %42 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_2, shape = [%assume_assume, %assume_0], strides = [%assume_3, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(1x4), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%4, %38] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x4), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x4xf32>, token
    %reshape = reshape %tile : tile<1x4xf32> -> tile<4xf32>
    %44 = iota : tile<4xi32>
    %reshape_15 = reshape %43 : tile<i32> -> tile<1xi32>
    %bcast = broadcast %reshape_15 : tile<1xi32> -> tile<4xi32>
    %45 = cmpi less_than %44, %bcast, signed : tile<4xi32> -> tile<4xi1>
    %cst_f32_16 = constant <f32: 0xFF800000> : tile<4xf32>
    %46 = select %45, %reshape, %cst_f32_16 : tile<4xi1>, tile<4xf32>
    %reduce = reduce %46 dim=0 identities=[0xFF800000 : f32] : tile<4xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %70 = maxf %reduce_rhs, %reduce_lhs propagate_nan : tile<f32>
      yield %70 : tile<f32>
    }
    %47 = bitcast %reshape : tile<4xf32> -> tile<4xi32>
    %cst_31_i32 = constant <i32: 31> : tile<4xi32>
    %48 = shri %47, %cst_31_i32 signed : tile<4xi32>
    %cst_2147483647_i32 = constant <i32: 2147483647> : tile<4xi32>
    %49 = andi %48, %cst_2147483647_i32 : tile<4xi32>
    %50 = xori %47, %49 : tile<4xi32>
    %cst_0_f32 = constant <f32: 0.000000e+00> : tile<4xf32>
    %51 = cmpf equal ordered %reshape, %cst_0_f32 : tile<4xf32> -> tile<4xi1>
    %cst_0_i32_17 = constant <i32: 0> : tile<4xi32>
    %52 = select %51, %cst_0_i32_17, %50 : tile<4xi1>, tile<4xi32>
    %53 = cmpf not_equal unordered %reshape, %reshape : tile<4xf32> -> tile<4xi1>
    %cst_2147483647_i32_18 = constant <i32: 2147483647> : tile<4xi32>
    %54 = select %53, %cst_2147483647_i32_18, %52 : tile<4xi1>, tile<4xi32>
    %55 = iota : tile<4xi32>
    %56 = iota : tile<4xi32>
    %reshape_19 = reshape %43 : tile<i32> -> tile<1xi32>
    %bcast_20 = broadcast %reshape_19 : tile<1xi32> -> tile<4xi32>
    %57 = cmpi less_than %56, %bcast_20, signed : tile<4xi32> -> tile<4xi1>
    %cst_-2147483648_i32 = constant <i32: -2147483648> : tile<4xi32>
    %58 = select %57, %54, %cst_-2147483648_i32 : tile<4xi1>, tile<4xi32>
    %cst_2147483647_i32_21 = constant <i32: 2147483647> : tile<4xi32>
    %59 = select %57, %55, %cst_2147483647_i32_21 : tile<4xi1>, tile<4xi32>
    %reduce_22:2 = reduce %58, %59 dim=0 identities=[-2147483648 : i32, 2147483647 : i32] : tile<4xi32>, tile<4xi32> -> tile<i32>, tile<i32> 
    (%reduce_lhs0: tile<i32>, %reduce_rhs0: tile<i32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>) {
      %70 = cmpi greater_than %reduce_lhs0, %reduce_rhs0, signed : tile<i32> -> tile<i1>
      %71 = cmpi equal %reduce_lhs0, %reduce_rhs0, signed : tile<i32> -> tile<i1>
      %72 = cmpi less_than %reduce_lhs1, %reduce_rhs1, signed : tile<i32> -> tile<i1>
      %73 = andi %71, %72 : tile<i1>
      %74 = ori %70, %73 : tile<i1>
      %75 = select %74, %reduce_lhs0, %reduce_rhs0 : tile<i1>, tile<i32>
      %76 = select %74, %reduce_lhs1, %reduce_rhs1 : tile<i1>, tile<i32>
      yield %75, %76 : tile<i32>, tile<i32>
    }
    %60 = exti %reduce_22#1 signed : tile<i32> -> tile<i64>
    %61 = addi %34, %60 : tile<i64>
    %62 = cmpf greater_than ordered %reduce, %iterArg0 : tile<f32> -> tile<i1>
    %63 = cmpf not_equal unordered %reduce, %reduce : tile<f32> -> tile<i1>
    %64 = cmpf not_equal unordered %iterArg0, %iterArg0 : tile<f32> -> tile<i1>
    %true = constant <i1: true> : tile<i1>
    %65 = xori %64, %true : tile<i1>
    %66 = andi %63, %65 : tile<i1>
    %67 = ori %62, %66 : tile<i1>
    %68 = select %67, %reduce, %iterArg0 : tile<i1>, tile<f32>
    %69 = select %67, %61, %iterArg1 : tile<i1>, tile<i64>
    continue %68, %69 : tile<f32>, tile<i64>
  }
  %23 = ptr_to_int %arg8 : tile<ptr<i8>> -> tile<i64>
  %cst_256_i64 = constant <i64: 256> : tile<i64>
  %24 = muli %17, %cst_256_i64 : tile<i64>
  %25 = addi %23, %24 : tile<i64>
  %cst_0_i64_8 = constant <i64: 0> : tile<i64>
  %26 = addi %25, %cst_0_i64_8 : tile<i64>
  %27 = int_to_ptr %26 : tile<i64> -> tile<ptr<f32>>
  %assume_9 = assume div_by<16>, %27 : tile<ptr<f32>>
  %cst_128_i64 = constant <i64: 128> : tile<i64>
  %28 = addi %25, %cst_128_i64 : tile<i64>
  %29 = int_to_ptr %28 : tile<i64> -> tile<ptr<i64>>
  %assume_10 = assume div_by<16>, %29 : tile<ptr<i64>>
  %30 = store_ptr_tko weak %assume_9, %for#0 : tile<ptr<f32>>, tile<f32> -> token
  %31 = store_ptr_tko weak %assume_10, %for#1 : tile<ptr<i64>>, tile<i64> -> token
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
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %2 = cmpi greater_than_or_equal %1, %cst_1_i64, signed : tile<i64> -> tile<i1>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %3 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_1_i64_4 = constant <i64: 1> : tile<i64>
  %4 = addi %3, %cst_1_i64_4 : tile<i64>
  %5 = exti %arg7 signed : tile<i32> -> tile<i64>
  %6 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %7 = addi %5, %6 : tile<i64>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %8 = muli %blockId_x, %arg6 : tile<i32>
  %9 = addi %8, %cst_0_i32 : tile<i32>
  %10 = exti %9 signed : tile<i32> -> tile<i64>
  %11 = ptr_to_int %arg8 : tile<ptr<i8>> -> tile<i64>
  %cst_256_i64 = constant <i64: 256> : tile<i64>
  %12 = muli %10, %cst_256_i64 : tile<i64>
  %13 = addi %11, %12 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %14 = addi %13, %cst_0_i64 : tile<i64>
  %15 = int_to_ptr %14 : tile<i64> -> tile<ptr<f32>>
  %assume_5 = assume div_by<16>, %15 : tile<ptr<f32>>
  %cst_128_i64 = constant <i64: 128> : tile<i64>
  %16 = addi %13, %cst_128_i64 : tile<i64>
  %17 = int_to_ptr %16 : tile<i64> -> tile<ptr<i64>>
  %assume_6 = assume div_by<16>, %17 : tile<ptr<i64>>
  %result, %result_token = load_ptr_tko weak %assume_5 : tile<ptr<f32>> -> tile<f32>, token
  %result_7, %result_token_8 = load_ptr_tko weak %assume_6 : tile<ptr<i64>> -> tile<i64>, token
  %for:2 = for %loopIdx in (%cst_1_i32 to %arg6, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %result, %iterArg1 = %result_7) -> (tile<f32>, tile<i64>) {
    %23 = muli %blockId_x, %arg6 : tile<i32>
    %24 = addi %23, %loopIdx : tile<i32>
    %25 = exti %24 signed : tile<i32> -> tile<i64>
    %26 = ptr_to_int %arg8 : tile<ptr<i8>> -> tile<i64>
    %cst_256_i64_9 = constant <i64: 256> : tile<i64>
    %27 = muli %25, %cst_256_i64_9 : tile<i64>
    %28 = addi %26, %27 : tile<i64>
    %cst_0_i64_10 = constant <i64: 0> : tile<i64>
    %29 = addi %28, %cst_0_i64_10 : tile<i64>
    %30 = int_to_ptr %29 : tile<i64> -> tile<ptr<f32>>
    %assume_11 = assume div_by<16>, %30 : tile<ptr<f32>>
    %cst_128_i64_12 = constant <i64: 128> : tile<i64>
    %31 = addi %28, %cst_128_i64_12 : tile<i64>
    %32 = int_to_ptr %31 : tile<i64> -> tile<ptr<i64>>
    %assume_13 = assume div_by<16>, %32 : tile<ptr<i64>>
    %result_14, %result_token_15 = load_ptr_tko weak %assume_11 : tile<ptr<f32>> -> tile<f32>, token
    %result_16, %result_token_17 = load_ptr_tko weak %assume_13 : tile<ptr<i64>> -> tile<i64>, token
    %33 = cmpf greater_than ordered %result_14, %iterArg0 : tile<f32> -> tile<i1>
    %34 = cmpf not_equal unordered %result_14, %result_14 : tile<f32> -> tile<i1>
    %35 = cmpf not_equal unordered %iterArg0, %iterArg0 : tile<f32> -> tile<i1>
    %true = constant <i1: true> : tile<i1>
    %36 = xori %35, %true : tile<i1>
    %37 = andi %34, %36 : tile<i1>
    %38 = ori %33, %37 : tile<i1>
    %39 = select %38, %result_14, %iterArg0 : tile<i1>, tile<f32>
    %40 = select %38, %result_16, %iterArg1 : tile<i1>, tile<i64>
    continue %39, %40 : tile<f32>, tile<i64>
  }
  %cst_-2147483648_i64 = constant <i64: -2147483648> : tile<i64>
  %18 = maxi %for#1, %cst_-2147483648_i64 signed : tile<i64>
  %cst_2147483647_i64 = constant <i64: 2147483647> : tile<i64>
  %19 = mini %18, %cst_2147483647_i64 signed : tile<i64>
  %20 = trunci %19 : tile<i64> -> tile<i32>
  %21 = offset %assume_1, %3 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
  %22 = store_ptr_tko weak %21, %20 : tile<ptr<i32>>, tile<i32> -> token
  return
}
