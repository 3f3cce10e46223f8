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
    %37 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_8_i64_19 = constant <i64: 8> : tile<i64>
    %38 = muli %37, %cst_8_i64_19 : tile<i64>
    %cst_8_i64_20 = constant <i64: 8> : tile<i64>
    %39 = addi %38, %cst_8_i64_20 : tile<i64>
    %40 = mini %39, %2 signed : tile<i64>
    %41 = subi %2, %38 : tile<i64>
    %cst_0_i64_21 = constant <i64: 0> : tile<i64>
    %42 = maxi %41, %cst_0_i64_21 signed : tile<i64>
    %cst_8_i64_22 = constant <i64: 8> : tile<i64>
    %43 = mini %42, %cst_8_i64_22 signed : tile<i64>
    %44 = trunci %43 : tile<i64> -> tile<i32>
    %tview_23 = make_tensor_view %assume_4, shape = [%assume, %assume_1], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_24 = make_partition_view %tview_23 : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile, %result_token = load_view_tko weak %pview_24[%4, %loopIdx] : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x8xf32>, token
    %tview_25 = make_tensor_view %assume_6, shape = [2, %assume_0, %assume_1], strides = [%assume_7, %assume_8, 1] : tile<i32> -> tensor_view<2x?x?xf32, strides=[?,?,1]>
    %pview_26 = make_partition_view %tview_25 : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>
    %cst_0_i32_27 = constant <i32: 0> : tile<i32>
    %tile_28, %result_token_29 = load_view_tko weak %pview_26[%cst_0_i32_27, %loopIdx, %3] : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>, tile<i32> -> tile<1x8x8xf32>, token
    %reshape_30 = reshape %tile_28 : tile<1x8x8xf32> -> tile<8x8xf32>
    %45 = bitcast %tile : tile<4x8xf32> -> tile<4x8xi32>
    %cst_-8192_i32 = constant <i32: -8192> : tile<4x8xi32>
    %46 = andi %45, %cst_-8192_i32 : tile<4x8xi32>
    %47 = bitcast %46 : tile<4x8xi32> -> tile<4x8xf32>
    %48 = cmpf equal ordered %tile, %tile : tile<4x8xf32> -> tile<4x8xi1>
    %49 = select %48, %47, %tile : tile<4x8xi1>, tile<4x8xf32>
    %cst_0_f32_31 = constant <f32: 0.000000e+00> : tile<4x8xf32>
    %50 = absf %tile : tile<4x8xf32>
    %cst_f32 = constant <f32: 0x7F800000> : tile<4x8xf32>
    %51 = cmpf less_than ordered %50, %cst_f32 : tile<4x8xf32> -> tile<4x8xi1>
    %52 = select %51, %47, %cst_0_f32_31 : tile<4x8xi1>, tile<4x8xf32>
    %53 = subf %tile, %47  : tile<4x8xf32>
    %54 = select %51, %53, %cst_0_f32_31 : tile<4x8xi1>, tile<4x8xf32>
    %55 = ftof %49  : tile<4x8xf32> -> tile<4x8xtf32>
    %56 = ftof %52  : tile<4x8xf32> -> tile<4x8xtf32>
    %57 = ftof %54  : tile<4x8xf32> -> tile<4x8xtf32>
    %58 = bitcast %reshape_30 : tile<8x8xf32> -> tile<8x8xi32>
    %cst_-8192_i32_32 = constant <i32: -8192> : tile<8x8xi32>
    %59 = andi %58, %cst_-8192_i32_32 : tile<8x8xi32>
    %60 = bitcast %59 : tile<8x8xi32> -> tile<8x8xf32>
    %61 = cmpf equal ordered %reshape_30, %reshape_30 : tile<8x8xf32> -> tile<8x8xi1>
    %62 = select %61, %60, %reshape_30 : tile<8x8xi1>, tile<8x8xf32>
    %cst_0_f32_33 = constant <f32: 0.000000e+00> : tile<8x8xf32>
    %63 = absf %reshape_30 : tile<8x8xf32>
    %cst_f32_34 = constant <f32: 0x7F800000> : tile<8x8xf32>
    %64 = cmpf less_than ordered %63, %cst_f32_34 : tile<8x8xf32> -> tile<8x8xi1>
    %65 = select %64, %60, %cst_0_f32_33 : tile<8x8xi1>, tile<8x8xf32>
    %66 = subf %reshape_30, %60  : tile<8x8xf32>
    %67 = select %64, %66, %cst_0_f32_33 : tile<8x8xi1>, tile<8x8xf32>
    %68 = ftof %62  : tile<8x8xf32> -> tile<8x8xtf32>
    %69 = ftof %65  : tile<8x8xf32> -> tile<8x8xtf32>
    %70 = ftof %67  : tile<8x8xf32> -> tile<8x8xtf32>
    %71 = mmaf %57, %69, %iterArg0 : tile<4x8xtf32>, tile<8x8xtf32>, tile<4x8xf32>
    %72 = mmaf %56, %70, %71 : tile<4x8xtf32>, tile<8x8xtf32>, tile<4x8xf32>
    %73 = mmaf %55, %68, %72 : tile<4x8xtf32>, tile<8x8xtf32>, tile<4x8xf32>
    %tview_35 = make_tensor_view %assume_4, shape = [%assume, %assume_1], strides = [%assume_5, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %pview_36 = make_partition_view %tview_35 : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
    %tile_37, %result_token_38 = load_view_tko weak %pview_36[%4, %loopIdx] : partition_view<tile=(4x8), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<4x8xf32>, token
    %tview_39 = make_tensor_view %assume_6, shape = [2, %assume_0, %assume_1], strides = [%assume_7, %assume_8, 1] : tile<i32> -> tensor_view<2x?x?xf32, strides=[?,?,1]>
    %pview_40 = make_partition_view %tview_39 : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>
    %cst_1_i32_41 = constant <i32: 1> : tile<i32>
    %tile_42, %result_token_43 = load_view_tko weak %pview_40[%cst_1_i32_41, %loopIdx, %3] : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<2x?x?xf32, strides=[?,?,1]>, dim_map=[0, 2, 1]>, tile<i32> -> tile<1x8x8xf32>, token
    %reshape_44 = reshape %tile_42 : tile<1x8x8xf32> -> tile<8x8xf32>
    %74 = bitcast %tile_37 : tile<4x8xf32> -> tile<4x8xi32>
    %cst_-8192_i32_45 = constant <i32: -8192> : tile<4x8xi32>
    %75 = andi %74, %cst_-8192_i32_45 : tile<4x8xi32>
    %76 = bitcast %75 : tile<4x8xi32> -> tile<4x8xf32>
    %77 = cmpf equal ordered %tile_37, %tile_37 : tile<4x8xf32> -> tile<4x8xi1>
    %78 = select %77, %76, %tile_37 : tile<4x8xi1>, tile<4x8xf32>
    %cst_0_f32_46 = constant <f32: 0.000000e+00> : tile<4x8xf32>
    %79 = absf %tile_37 : tile<4x8xf32>
    %cst_f32_47 = constant <f32: 0x7F800000> : tile<4x8xf32>
    %80 = cmpf less_than ordered %79, %cst_f32_47 : tile<4x8xf32> -> tile<4x8xi1>
    %81 = select %80, %76, %cst_0_f32_46 : tile<4x8xi1>, tile<4x8xf32>
    %82 = subf %tile_37, %76  : tile<4x8xf32>
    %83 = select %80, %82, %cst_0_f32_46 : tile<4x8xi1>, tile<4x8xf32>
    %84 = ftof %78  : tile<4x8xf32> -> tile<4x8xtf32>
    %85 = ftof %81  : tile<4x8xf32> -> tile<4x8xtf32>
    %86 = ftof %83  : tile<4x8xf32> -> tile<4x8xtf32>
    %87 = bitcast %reshape_44 : tile<8x8xf32> -> tile<8x8xi32>
    %cst_-8192_i32_48 = constant <i32: -8192> : tile<8x8xi32>
    %88 = andi %87, %cst_-8192_i32_48 : tile<8x8xi32>
    %89 = bitcast %88 : tile<8x8xi32> -> tile<8x8xf32>
    %90 = cmpf equal ordered %reshape_44, %reshape_44 : tile<8x8xf32> -> tile<8x8xi1>
    %91 = select %90, %89, %reshape_44 : tile<8x8xi1>, tile<8x8xf32>
    %cst_0_f32_49 = constant <f32: 0.000000e+00> : tile<8x8xf32>
    %92 = absf %reshape_44 : tile<8x8xf32>
    %cst_f32_50 = constant <f32: 0x7F800000> : tile<8x8xf32>
    %93 = cmpf less_than ordered %92, %cst_f32_50 : tile<8x8xf32> -> tile<8x8xi1>
    %94 = select %93, %89, %cst_0_f32_49 : tile<8x8xi1>, tile<8x8xf32>
    %95 = subf %reshape_44, %89  : tile<8x8xf32>
    %96 = select %93, %95, %cst_0_f32_49 : tile<8x8xi1>, tile<8x8xf32>
    %97 = ftof %91  : tile<8x8xf32> -> tile<8x8xtf32>
    %98 = ftof %94  : tile<8x8xf32> -> tile<8x8xtf32>
    %99 = ftof %96  : tile<8x8xf32> -> tile<8x8xtf32>
    %100 = mmaf %86, %98, %iterArg1 : tile<4x8xtf32>, tile<8x8xtf32>, tile<4x8xf32>
    %101 = mmaf %85, %99, %100 : tile<4x8xtf32>, tile<8x8xtf32>, tile<4x8xf32>
    %102 = mmaf %84, %97, %101 : tile<4x8xtf32>, tile<8x8xtf32>, tile<4x8xf32>
    continue %73, %102 : tile<4x8xf32>, tile<4x8xf32>
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
  %tview = make_tensor_view %assume_2, shape = [%assume, %assume_0], strides = [%assume_3, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %pview = make_partition_view %tview : partition_view<tile=(4x8), tensor_view<?x?xf32, strides=[?,1]>>
  %36 = store_view_tko weak %35, %pview[%4, %3] : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> token
  return
}
