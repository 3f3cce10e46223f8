// Producer: tileproof
entry @silu_mul(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<f32>>, %arg5: tile<i32>, %arg6: tile<i32>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>, %arg11: tile<i32>, %arg12: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg7 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg8 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume bounded<0, ?>, %arg9 : tile<i32>
  %2 = exti %assume_1 signed : tile<i32> -> tile<i64>
  %assume_2 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_3 = assume bounded<0, ?>, %arg1 : tile<i32>
  %assume_4 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_5 = assume bounded<0, ?>, %arg3 : tile<i32>
  %assume_6 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_7 = assume bounded<0, ?>, %arg5 : tile<i32>
  %assume_8 = assume bounded<0, ?>, %arg6 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %3 = remi %blockId_x, %arg11 signed : tile<i32>
  %4 = divi %blockId_x, %arg11 signed : tile<i32>
  %5 = exti %4 signed : tile<i32> -> tile<i64>
  %cst_4_i64 = constant <i64: 4> : tile<i64>
  %6 = muli %5, %cst_4_i64 : tile<i64>
  %cst_4_i64_9 = constant <i64: 4> : tile<i64>
  %7 = addi %6, %cst_4_i64_9 : tile<i64>
  %8 = mini %7, %0 signed : tile<i64>
  %9 = subi %0, %6 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %10 = maxi %9, %cst_0_i64 signed : tile<i64>
  %cst_4_i64_10 = constant <i64: 4> : tile<i64>
  %11 = mini %10, %cst_4_i64_10 signed : tile<i64>
  %12 = trunci %11 : tile<i64> -> tile<i32>
  %13 = exti %3 signed : tile<i32> -> tile<i64>
  %cst_8_i64 = constant <i64: 8> : tile<i64>
  %14 = muli %13, %cst_8_i64 : tile<i64>
  %cst_8_i64_11 = constant <i64: 8> : tile<i64>
  %15 = addi %14, %cst_8_i64_11 : tile<i64>
  %16 = mini %15, %1 signed : tile<i64>
  %17 = subi %1, %14 : tile<i64>
  %cst_0_i64_12 = constant <i64: 0> : tile<i64>
  %18 = maxi %17, %cst_0_i64_12 signed : tile<i64>
  %cst_8_i64_13 = constant <i64: 8> : tile<i64>
  %19 = mini %18, %cst_8_i64_13 signed : tile<i64>
  %20 = trunci %19 : tile<i64> -> tile<i32>
  %21 = muli %4, %arg11 : tile<i32>
  %22 = addi %21, %3 : tile<i32>
  %23 = exti %22 signed : tile<i32> -> tile<i64>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast = broadcast %reshape : tile<1x1xf32> -> tile<4x8xf32>
  %reshape_14 = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast_15 = broadcast %reshape_14 : tile<1x1xf32> -> tile<4x8xf32>
  %cst_0_i64_16 = constant <i64: 0> : tile<i64>
  %24 = maxi %2, %cst_0_i64_16 signed : tile<i64>
  %25 = trunci %24 : tile<i64> -> tile<i32>
  %cst_8_i32 = constant <i32: 8> : tile<i32>
  %26 = divi %25, %cst_8_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for:2 = for %loopIdx in (%cst_0_i32 to %26, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast, %iterArg1 = %bcast_15) -> (tile<4x8xf32>, tile<4x8xf32>) {
    %51 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_8_i64_35 = constant <i64: 8> : tile<i64>
    %52 = muli %51, %cst_8_i64_35 : tile<i64>
    %cst_8_i64_36 = constant <i64: 8> : tile<i64>
    %53 = addi %52, %cst_8_i64_36 : tile<i64>
    %54 = mini %53, %2 signed : tile<i64>
    %55 = subi %2, %52 : tile<i64>
    %cst_0_i64_37 = constant <i64: 0> : tile<i64>
    %56 = maxi %55, %cst_0_i64_37 signed : tile<i64>
    %cst_8_i64_38 = constant <i64: 8> : tile<i64>
    %57 = mini %56, %cst_8_i64_38 signed : tile<i64>
    %58 = trunci %57 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_4, shape = [%assume, %assume_1], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview[%4, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x8xf32>, token
    %tview_39 = make_tensor_view %assume_6, shape = [2, %assume_0, %assume_1], strides = [%assume_7, %assume_8, 1] : tile<i32> -> tensor_view<2x?x?xf32, strides=[?,?,1]>
    %pview_40 = make_partition_view %tview_39 : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>
    %cst_0_i32_41 = constant <i32: 0> : tile<i32>
    %tile_42, %result_token_43 = load_view_tko weak %pview_40[%cst_0_i32_41, %loopIdx, %3] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>, tile<i32> -> tile<1x8x8xf32>, token
    %reshape_44 = reshape %tile_42 : tile<1x8x8xf32> -> tile<8x8xf32>
    %59 = mmaf %tile, %reshape_44, %iterArg0 : tile<4x8xf32>, tile<8x8xf32>, tile<4x8xf32>
    %tview_45 = make_tensor_view %assume_4, shape = [%assume, %assume_1], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_46 = make_partition_view %tview_45 : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_47, %result_token_48 = load_view_tko weak %pview_46[%4, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x8xf32>, token
    %tview_49 = make_tensor_view %assume_6, shape = [2, %assume_0, %assume_1], strides = [%assume_7, %assume_8, 1] : tile<i32> -> tensor_view<2x?x?xf32, strides=[?,?,1]>
    %pview_50 = make_partition_view %tview_49 : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>
    %cst_1_i32_51 = constant <i32: 1> : tile<i32>
    %tile_52, %result_token_53 = load_view_tko weak %pview_50[%cst_1_i32_51, %loopIdx, %3] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>, tile<i32> -> tile<1x8x8xf32>, token
    %reshape_54 = reshape %tile_52 : tile<1x8x8xf32> -> tile<8x8xf32>
    %60 = mmaf %tile_47, %reshape_54, %iterArg1 : tile<4x8xf32>, tile<8x8xf32>, tile<4x8xf32>
    continue %59, %60 : tile<4x8xf32>, tile<4x8xf32>
  }
  %27 = absf %for#0 : tile<4x8xf32>
  %28 = negf %27 : tile<4x8xf32>
  %29 = exp %28  : tile<4x8xf32>
  %cst_0_f32_17 = constant <f32: 0.000000e+00> : tile<4x8xf32>
  %30 = cmpf greater_than_or_equal ordered %for#0, %cst_0_f32_17 : tile<4x8xf32> -> tile<4x8xi1>
  %cst_1_f32 = constant <f32: 1.000000e+00> : tile<4x8xf32>
  %31 = select %30, %cst_1_f32, %29 : tile<4x8xi1>, tile<4x8xf32>
  %cst_1_f32_18 = constant <f32: 1.000000e+00> : tile<4x8xf32>
  %32 = addf %cst_1_f32_18, %29  : tile<4x8xf32>
  %33 = divf %31, %32 rounding<approx> : tile<4x8xf32>
  %34 = mulf %for#0, %33  : tile<4x8xf32>
  %35 = mulf %34, %for#1  : tile<4x8xf32>
  %36 = iota : tile<4xi32>
  %reshape_19 = reshape %12 : tile<i32> -> tile<1xi32>
  %bcast_20 = broadcast %reshape_19 : tile<1xi32> -> tile<4xi32>
  %37 = cmpi less_than %36, %bcast_20, signed : tile<4xi32> -> tile<4xi1>
  %reshape_21 = reshape %37 : tile<4xi1> -> tile<4x1xi1>
  %bcast_22 = broadcast %reshape_21 : tile<4x1xi1> -> tile<4x8xi1>
  %38 = iota : tile<8xi32>
  %reshape_23 = reshape %20 : tile<i32> -> tile<1xi32>
  %bcast_24 = broadcast %reshape_23 : tile<1xi32> -> tile<8xi32>
  %39 = cmpi less_than %38, %bcast_24, signed : tile<8xi32> -> tile<8xi1>
  %reshape_25 = reshape %39 : tile<8xi1> -> tile<1x8xi1>
  %bcast_26 = broadcast %reshape_25 : tile<1x8xi1> -> tile<4x8xi1>
  %40 = andi %bcast_22, %bcast_26 : tile<4x8xi1>
  %41 = exti %assume_3 signed : tile<i32> -> tile<i64>
  %42 = muli %6, %41 : tile<i64>
  %43 = addi %42, %14 : tile<i64>
  %44 = offset %assume_2, %43 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
  %45 = iota : tile<4xi32>
  %reshape_27 = reshape %assume_3 : tile<i32> -> tile<1xi32>
  %bcast_28 = broadcast %reshape_27 : tile<1xi32> -> tile<4xi32>
  %46 = muli %45, %bcast_28 : tile<4xi32>
  %reshape_29 = reshape %46 : tile<4xi32> -> tile<4x1xi32>
  %bcast_30 = broadcast %reshape_29 : tile<4x1xi32> -> tile<4x8xi32>
  %47 = iota : tile<8xi32>
  %reshape_31 = reshape %47 : tile<8xi32> -> tile<1x8xi32>
  %bcast_32 = broadcast %reshape_31 : tile<1x8xi32> -> tile<4x8xi32>
  %48 = addi %bcast_30, %bcast_32 : tile<4x8xi32>
  %reshape_33 = reshape %44 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bcast_34 = broadcast %reshape_33 : tile<1x1xptr<f32>> -> tile<4x8xptr<f32>>
  %49 = offset %bcast_34, %48 : tile<4x8xptr<f32>>, tile<4x8xi32> -> tile<4x8xptr<f32>>
  %50 = store_ptr_tko weak %49, %35, %40 : tile<4x8xptr<f32>>, tile<4x8xf32>, tile<4x8xi1> -> token
  return
}
