// Producer: tileproof
entry @argmax(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<f32>>, %arg2: tile<i32>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>, %arg6: tile<i32>) {
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
  %5 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_f32 = constant <f32: 0xFF800000> : tile<f32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %6 = maxi %1, %cst_0_i64 signed : tile<i64>
  %7 = trunci %6 : tile<i64> -> tile<i32>
  %cst_8_i32 = constant <i32: 8> : tile<i32>
  %8 = divi %7, %cst_8_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32_5 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for:2 = for %loopIdx in (%cst_0_i32_5 to %8, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %cst_f32, %iterArg1 = %cst_0_i32) -> (tile<f32>, tile<i32>) {
    %11 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_8_i64 = constant <i64: 8> : tile<i64>
    %12 = muli %11, %cst_8_i64 : tile<i64>
    %cst_8_i64_6 = constant <i64: 8> : tile<i64>
    %13 = addi %12, %cst_8_i64_6 : tile<i64>
    %14 = mini %13, %1 signed : tile<i64>
    %15 = subi %1, %12 : tile<i64>
    %cst_0_i64_7 = constant <i64: 0> : tile<i64>
    %16 = maxi %15, %cst_0_i64_7 signed : tile<i64>
    %cst_8_i64_8 = constant <i64: 8> : tile<i64>
    %17 = mini %16, %cst_8_i64_8 signed : tile<i64>
    %18 = trunci %17 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_2, shape = [%assume_assume, %assume_0], strides = [%assume_3, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%blockId_x, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x8xf32>, token
    %reshape = reshape %tile : tile<1x8xf32> -> tile<8xf32>
    %19 = iota : tile<8xi32>
    %reshape_9 = reshape %18 : tile<i32> -> tile<1xi32>
    %bcast = broadcast %reshape_9 : tile<1xi32> -> tile<8xi32>
    %20 = cmpi less_than %19, %bcast, signed : tile<8xi32> -> tile<8xi1>
    %cst_f32_10 = constant <f32: 0xFF800000> : tile<8xf32>
    %21 = select %20, %reshape, %cst_f32_10 : tile<8xi1>, tile<8xf32>
    %reduce = reduce %21 dim=0 identities=[0xFF800000 : f32] : tile<8xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %29 = maxf %reduce_rhs, %reduce_lhs propagate_nan : tile<f32>
      yield %29 : tile<f32>
    }
    %22 = cmpf greater_than ordered %reduce, %iterArg0 : tile<f32> -> tile<i1>
    %23 = cmpf not_equal unordered %reduce, %reduce : tile<f32> -> tile<i1>
    %24 = cmpf not_equal unordered %iterArg0, %iterArg0 : tile<f32> -> tile<i1>
    %true = constant <i1: true> : tile<i1>
    %25 = xori %24, %true : tile<i1>
    %26 = andi %23, %25 : tile<i1>
    %27 = ori %22, %26 : tile<i1>
    %28:2 = if %27 -> (tile<f32>, tile<i32>) {
      %29 = bitcast %reshape : tile<8xf32> -> tile<8xi32>
      %cst_31_i32 = constant <i32: 31> : tile<8xi32>
      %30 = shri %29, %cst_31_i32 signed : tile<8xi32>
      %cst_2147483647_i32 = constant <i32: 2147483647> : tile<8xi32>
      %31 = andi %30, %cst_2147483647_i32 : tile<8xi32>
      %32 = xori %29, %31 : tile<8xi32>
      %cst_0_f32 = constant <f32: 0.000000e+00> : tile<8xf32>
      %33 = cmpf equal ordered %reshape, %cst_0_f32 : tile<8xf32> -> tile<8xi1>
      %cst_0_i32_11 = constant <i32: 0> : tile<8xi32>
      %34 = select %33, %cst_0_i32_11, %32 : tile<8xi1>, tile<8xi32>
      %35 = cmpf not_equal unordered %reshape, %reshape : tile<8xf32> -> tile<8xi1>
      %cst_2147483647_i32_12 = constant <i32: 2147483647> : tile<8xi32>
      %36 = select %35, %cst_2147483647_i32_12, %34 : tile<8xi1>, tile<8xi32>
      %37 = iota : tile<8xi32>
      %38 = iota : tile<8xi32>
      %reshape_13 = reshape %18 : tile<i32> -> tile<1xi32>
      %bcast_14 = broadcast %reshape_13 : tile<1xi32> -> tile<8xi32>
      %39 = cmpi less_than %38, %bcast_14, signed : tile<8xi32> -> tile<8xi1>
      %cst_-2147483648_i32 = constant <i32: -2147483648> : tile<8xi32>
      %40 = select %39, %36, %cst_-2147483648_i32 : tile<8xi1>, tile<8xi32>
      %cst_2147483647_i32_15 = constant <i32: 2147483647> : tile<8xi32>
      %41 = select %39, %37, %cst_2147483647_i32_15 : tile<8xi1>, tile<8xi32>
      %reduce_16:2 = reduce %40, %41 dim=0 identities=[-2147483648 : i32, 2147483647 : i32] : tile<8xi32>, tile<8xi32> -> tile<i32>, tile<i32> 
      (%reduce_lhs0: tile<i32>, %reduce_rhs0: tile<i32>, %reduce_lhs1: tile<i32>, %reduce_rhs1: tile<i32>) {
        %47 = cmpi greater_than %reduce_lhs0, %reduce_rhs0, signed : tile<i32> -> tile<i1>
        %48 = cmpi equal %reduce_lhs0, %reduce_rhs0, signed : tile<i32> -> tile<i1>
        %49 = cmpi less_than %reduce_lhs1, %reduce_rhs1, signed : tile<i32> -> tile<i1>
        %50 = andi %48, %49 : tile<i1>
        %51 = ori %47, %50 : tile<i1>
        %52 = select %51, %reduce_lhs0, %reduce_rhs0 : tile<i1>, tile<i32>
        %53 = select %51, %reduce_lhs1, %reduce_rhs1 : tile<i1>, tile<i32>
        yield %52, %53 : tile<i32>, tile<i32>
      }
      %42 = exti %reduce_16#1 signed : tile<i32> -> tile<i64>
      %43 = addi %12, %42 : tile<i64>
      %cst_-2147483648_i64 = constant <i64: -2147483648> : tile<i64>
      %44 = maxi %43, %cst_-2147483648_i64 signed : tile<i64>
      %cst_2147483647_i64 = constant <i64: 2147483647> : tile<i64>
      %45 = mini %44, %cst_2147483647_i64 signed : tile<i64>
      %46 = trunci %45 : tile<i64> -> tile<i32>
      yield %reduce, %46 : tile<f32>, tile<i32>
    } else {
      yield %iterArg0, %iterArg1 : tile<f32>, tile<i32>
    }
    continue %28#0, %28#1 : tile<f32>, tile<i32>
  }
  %9 = offset %assume_1, %3 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
  %10 = store_ptr_tko weak %9, %for#1 : tile<ptr<i32>>, tile<i32> -> token
  return
}
