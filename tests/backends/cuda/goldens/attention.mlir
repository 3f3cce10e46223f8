// Producer: tileproof
entry @attention(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<f32>>, %arg5: tile<i32>, %arg6: tile<ptr<f32>>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<i32>, %arg10: tile<i32>, %arg11: tile<i32>, %arg12: tile<f32>, %arg13: tile<i32>, %arg14: tile<i32>, %arg15: tile<i32>, %arg16: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg8 : tile<i32>
  %assume_assume = assume div_by<4>, %assume : tile<i32>
  %0 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg9 : tile<i32>
  %1 = exti %assume_0 signed : tile<i32> -> tile<i64>
  %assume_1 = assume bounded<0, ?>, %arg10 : tile<i32>
  %assume_assume_2 = assume div_by<2>, %assume_1 : tile<i32>
  %2 = exti %assume_assume_2 signed : tile<i32> -> tile<i64>
  %assume_3 = assume bounded<0, ?>, %arg11 : tile<i32>
  %3 = exti %assume_3 signed : tile<i32> -> tile<i64>
  %assume_4 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_5 = assume div_by<8>, %arg1 : tile<i32>
  %assume_assume_6 = assume bounded<0, ?>, %assume_5 : tile<i32>
  %assume_7 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_8 = assume div_by<8>, %arg3 : tile<i32>
  %assume_assume_9 = assume bounded<0, ?>, %assume_8 : tile<i32>
  %assume_10 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_11 = assume div_by<8>, %arg5 : tile<i32>
  %assume_assume_12 = assume bounded<0, ?>, %assume_11 : tile<i32>
  %assume_13 = assume div_by<16>, %arg6 : tile<ptr<f32>>
  %assume_14 = assume div_by<8>, %arg7 : tile<i32>
  %assume_assume_15 = assume bounded<0, ?>, %assume_14 : tile<i32>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %4 = remi %blockId_x, %arg15 signed : tile<i32>
  %5 = divi %blockId_x, %arg15 signed : tile<i32>
  %6 = exti %5 signed : tile<i32> -> tile<i64>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %7 = addi %6, %cst_1_i64 : tile<i64>
  %8 = exti %4 signed : tile<i32> -> tile<i64>
  %cst_8_i64 = constant <i64: 8> : tile<i64>
  %9 = muli %8, %cst_8_i64 : tile<i64>
  %cst_8_i64_16 = constant <i64: 8> : tile<i64>
  %10 = addi %9, %cst_8_i64_16 : tile<i64>
  %11 = mini %10, %1 signed : tile<i64>
  %12 = subi %1, %9 : tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %13 = maxi %12, %cst_0_i64 signed : tile<i64>
  %cst_8_i64_17 = constant <i64: 8> : tile<i64>
  %14 = mini %13, %cst_8_i64_17 signed : tile<i64>
  %15 = trunci %14 : tile<i64> -> tile<i32>
  %16 = muli %5, %arg15 : tile<i32>
  %17 = addi %16, %4 : tile<i32>
  %18 = exti %17 signed : tile<i32> -> tile<i64>
  %cst_0_i64_18 = constant <i64: 0> : tile<i64>
  %19 = cmpi equal %2, %cst_0_i64_18, unsigned : tile<i64> -> tile<i1>
  %cst_-9223372036854775808_i64 = constant <i64: -9223372036854775808> : tile<i64>
  %20 = cmpi equal %0, %cst_-9223372036854775808_i64, unsigned : tile<i64> -> tile<i1>
  %cst_-1_i64 = constant <i64: -1> : tile<i64>
  %21 = cmpi equal %2, %cst_-1_i64, unsigned : tile<i64> -> tile<i1>
  %22 = andi %20, %21 : tile<i1>
  %23 = ori %19, %22 : tile<i1>
  %cst_1_i64_19 = constant <i64: 1> : tile<i64>
  %24 = select %23, %cst_1_i64_19, %2 : tile<i1>, tile<i64>
  %25 = divi %0, %24 signed rounding<negative_inf> : tile<i64>
  %cst_0_i64_20 = constant <i64: 0> : tile<i64>
  %26 = select %19, %cst_0_i64_20, %25 : tile<i1>, tile<i64>
  %cst_0_i64_21 = constant <i64: 0> : tile<i64>
  %27 = cmpi equal %26, %cst_0_i64_21, unsigned : tile<i64> -> tile<i1>
  %cst_-9223372036854775808_i64_22 = constant <i64: -9223372036854775808> : tile<i64>
  %28 = cmpi equal %6, %cst_-9223372036854775808_i64_22, unsigned : tile<i64> -> tile<i1>
  %cst_-1_i64_23 = constant <i64: -1> : tile<i64>
  %29 = cmpi equal %26, %cst_-1_i64_23, unsigned : tile<i64> -> tile<i1>
  %30 = andi %28, %29 : tile<i1>
  %31 = ori %27, %30 : tile<i1>
  %cst_1_i64_24 = constant <i64: 1> : tile<i64>
  %32 = select %31, %cst_1_i64_24, %26 : tile<i1>, tile<i64>
  %33 = divi %6, %32 signed rounding<negative_inf> : tile<i64>
  %cst_0_i64_25 = constant <i64: 0> : tile<i64>
  %34 = select %27, %cst_0_i64_25, %33 : tile<i1>, tile<i64>
  %cst_f32 = constant <f32: 0xFF800000> : tile<f32>
  %reshape = reshape %cst_f32 : tile<f32> -> tile<1xf32>
  %bcast = broadcast %reshape : tile<1xf32> -> tile<8xf32>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape_26 = reshape %cst_0_f32 : tile<f32> -> tile<1xf32>
  %bcast_27 = broadcast %reshape_26 : tile<1xf32> -> tile<8xf32>
  %reshape_28 = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast_29 = broadcast %reshape_28 : tile<1x1xf32> -> tile<8x8xf32>
  %35 = exti %arg13 signed : tile<i32> -> tile<i64>
  %36 = addi %35, %11 : tile<i64>
  %37 = mini %3, %36 signed : tile<i64>
  %tview = make_tensor_view %assume_7, shape = [%assume_assume, %assume_0, 8], strides = [%assume_assume_9, 8, 1] : tile<i32> -> tensor_view<?x?x8xf32, strides=[?,8,1]>
  %pview = make_partition_view %tview : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<?x?x8xf32, strides=[?,8,1]>>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %tile, %result_token = load_view_tko weak %pview[%5, %4, %cst_0_i32] : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<?x?x8xf32, strides=[?,8,1]>>, tile<i32> -> tile<1x8x8xf32>, token
  %reshape_30 = reshape %tile : tile<1x8x8xf32> -> tile<8x8xf32>
  %cst_0_i64_31 = constant <i64: 0> : tile<i64>
  %38 = maxi %37, %cst_0_i64_31 signed : tile<i64>
  %39 = trunci %38 : tile<i64> -> tile<i32>
  %cst_4_i32 = constant <i32: 4> : tile<i32>
  %40 = divi %39, %cst_4_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32_32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for:3 = for %loopIdx in (%cst_0_i32_32 to %40, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast_27, %iterArg1 = %bcast, %iterArg2 = %bcast_29) -> (tile<8xf32>, tile<8xf32>, tile<8x8xf32>) {
    %43 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_4_i64 = constant <i64: 4> : tile<i64>
    %44 = muli %43, %cst_4_i64 : tile<i64>
    %cst_4_i64_39 = constant <i64: 4> : tile<i64>
    %45 = addi %44, %cst_4_i64_39 : tile<i64>
    %46 = mini %45, %37 signed : tile<i64>
    %47 = subi %37, %44 : tile<i64>
    %cst_0_i64_40 = constant <i64: 0> : tile<i64>
    %48 = maxi %47, %cst_0_i64_40 signed : tile<i64>
    %cst_4_i64_41 = constant <i64: 4> : tile<i64>
    %49 = mini %48, %cst_4_i64_41 signed : tile<i64>
    %50 = trunci %49 : tile<i64> -> tile<i32>
    %tview_42 = make_tensor_view %assume_10, shape = [%assume_assume_2, %assume_3, 8], strides = [%assume_assume_12, 8, 1] : tile<i32> -> tensor_view<?x?x8xf32, strides=[?,8,1]>
    %pview_43 = make_partition_view %tview_42 : partition_view<tile=(1x8x4), padding_value = zero, tensor_view<?x?x8xf32, strides=[?,8,1]>, dim_map=[0, 2, 1]>
    %51 = trunci %34 : tile<i64> -> tile<i32>
    %cst_0_i32_44 = constant <i32: 0> : tile<i32>
    %tile_45, %result_token_46 = load_view_tko weak %pview_43[%51, %cst_0_i32_44, %loopIdx] : partition_view<tile=(1x8x4), padding_value = zero, tensor_view<?x?x8xf32, strides=[?,8,1]>, dim_map=[0, 2, 1]>, tile<i32> -> tile<1x8x4xf32>, token
    %reshape_47 = reshape %tile_45 : tile<1x8x4xf32> -> tile<8x4xf32>
    %cst_0_f32_48 = constant <f32: 0.000000e+00> : tile<f32>
    %reshape_49 = reshape %cst_0_f32_48 : tile<f32> -> tile<1x1xf32>
    %bcast_50 = broadcast %reshape_49 : tile<1x1xf32> -> tile<8x4xf32>
    %52 = mmaf %reshape_30, %reshape_47, %bcast_50 : tile<8x8xf32>, tile<8x4xf32>, tile<8x4xf32>
    %reshape_51 = reshape %arg12 : tile<f32> -> tile<1x1xf32>
    %bcast_52 = broadcast %reshape_51 : tile<1x1xf32> -> tile<8x4xf32>
    %53 = mulf %52, %bcast_52  : tile<8x4xf32>
    %54 = iota : tile<8xi32>
    %reshape_53 = reshape %54 : tile<8xi32> -> tile<8x1xi32>
    %55 = exti %arg13 signed : tile<i32> -> tile<i64>
    %56 = addi %55, %9 : tile<i64>
    %57 = iota : tile<4xi32>
    %reshape_54 = reshape %57 : tile<4xi32> -> tile<1x4xi32>
    %bcast_55 = broadcast %reshape_53 : tile<8x1xi32> -> tile<8x4xi32>
    %bcast_56 = broadcast %reshape_54 : tile<1x4xi32> -> tile<8x4xi32>
    %58 = subi %bcast_55, %bcast_56 : tile<8x4xi32>
    %59 = subi %44, %56 : tile<i64>
    %cst_-4_i64 = constant <i64: -4> : tile<i64>
    %60 = maxi %59, %cst_-4_i64 signed : tile<i64>
    %cst_8_i64_57 = constant <i64: 8> : tile<i64>
    %61 = mini %60, %cst_8_i64_57 signed : tile<i64>
    %62 = trunci %61 : tile<i64> -> tile<i32>
    %reshape_58 = reshape %62 : tile<i32> -> tile<1x1xi32>
    %bcast_59 = broadcast %reshape_58 : tile<1x1xi32> -> tile<8x4xi32>
    %63 = cmpi greater_than_or_equal %58, %bcast_59, signed : tile<8x4xi32> -> tile<8x4xi1>
    %cst_f32_60 = constant <f32: 0xFF800000> : tile<f32>
    %reshape_61 = reshape %cst_f32_60 : tile<f32> -> tile<1x1xf32>
    %bcast_62 = broadcast %reshape_61 : tile<1x1xf32> -> tile<8x4xf32>
    %64 = select %63, %53, %bcast_62 : tile<8x4xi1>, tile<8x4xf32>
    %65 = iota : tile<4xi32>
    %reshape_63 = reshape %50 : tile<i32> -> tile<1xi32>
    %bcast_64 = broadcast %reshape_63 : tile<1xi32> -> tile<4xi32>
    %66 = cmpi less_than %65, %bcast_64, signed : tile<4xi32> -> tile<4xi1>
    %reshape_65 = reshape %66 : tile<4xi1> -> tile<1x4xi1>
    %bcast_66 = broadcast %reshape_65 : tile<1x4xi1> -> tile<8x4xi1>
    %cst_f32_67 = constant <f32: 0xFF800000> : tile<8x4xf32>
    %67 = select %bcast_66, %64, %cst_f32_67 : tile<8x4xi1>, tile<8x4xf32>
    %reduce = reduce %67 dim=1 identities=[0xFF800000 : f32] : tile<8x4xf32> -> tile<8xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %86 = maxf %reduce_rhs, %reduce_lhs propagate_nan : tile<f32>
      yield %86 : tile<f32>
    }
    %68 = maxf %iterArg1, %reduce propagate_nan : tile<8xf32>
    %reshape_68 = reshape %68 : tile<8xf32> -> tile<8x1xf32>
    %bcast_69 = broadcast %reshape_68 : tile<8x1xf32> -> tile<8x4xf32>
    %69 = subf %64, %bcast_69  : tile<8x4xf32>
    %70 = exp %69  : tile<8x4xf32>
    %71 = subf %iterArg1, %68  : tile<8xf32>
    %72 = exp %71  : tile<8xf32>
    %73 = iota : tile<4xi32>
    %reshape_70 = reshape %50 : tile<i32> -> tile<1xi32>
    %bcast_71 = broadcast %reshape_70 : tile<1xi32> -> tile<4xi32>
    %74 = cmpi less_than %73, %bcast_71, signed : tile<4xi32> -> tile<4xi1>
    %reshape_72 = reshape %74 : tile<4xi1> -> tile<1x4xi1>
    %bcast_73 = broadcast %reshape_72 : tile<1x4xi1> -> tile<8x4xi1>
    %cst_0_f32_74 = constant <f32: 0.000000e+00> : tile<8x4xf32>
    %75 = select %bcast_73, %70, %cst_0_f32_74 : tile<8x4xi1>, tile<8x4xf32>
    %reduce_75 = reduce %75 dim=1 identities=[0.000000e+00 : f32] : tile<8x4xf32> -> tile<8xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %86 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %86 : tile<f32>
    }
    %76 = fma %iterArg0, %72, %reduce_75  : tile<8xf32>
    %reshape_76 = reshape %72 : tile<8xf32> -> tile<8x1xf32>
    %bcast_77 = broadcast %reshape_76 : tile<8x1xf32> -> tile<8x8xf32>
    %77 = mulf %iterArg2, %bcast_77  : tile<8x8xf32>
    %tview_78 = make_tensor_view %assume_13, shape = [%assume_assume_2, %assume_3, 8], strides = [%assume_assume_15, 8, 1] : tile<i32> -> tensor_view<?x?x8xf32, strides=[?,8,1]>
    %pview_79 = make_partition_view %tview_78 : partition_view<tile=(1x4x8), padding_value = zero, tensor_view<?x?x8xf32, strides=[?,8,1]>>
    %78 = trunci %34 : tile<i64> -> tile<i32>
    %cst_0_i32_80 = constant <i32: 0> : tile<i32>
    %tile_81, %result_token_82 = load_view_tko weak %pview_79[%78, %loopIdx, %cst_0_i32_80] : partition_view<tile=(1x4x8), padding_value = zero, tensor_view<?x?x8xf32, strides=[?,8,1]>>, tile<i32> -> tile<1x4x8xf32>, token
    %reshape_83 = reshape %tile_81 : tile<1x4x8xf32> -> tile<4x8xf32>
    %reshape_84 = reshape %cst_0_f32_48 : tile<f32> -> tile<1x1xf32>
    %bcast_85 = broadcast %reshape_84 : tile<1x1xf32> -> tile<8x8xf32>
    %79 = iota : tile<4xi32>
    %reshape_86 = reshape %50 : tile<i32> -> tile<1xi32>
    %bcast_87 = broadcast %reshape_86 : tile<1xi32> -> tile<4xi32>
    %80 = cmpi less_than %79, %bcast_87, signed : tile<4xi32> -> tile<4xi1>
    %reshape_88 = reshape %80 : tile<4xi1> -> tile<1x4xi1>
    %bcast_89 = broadcast %reshape_88 : tile<1x4xi1> -> tile<8x4xi1>
    %cst_0_f32_90 = constant <f32: 0.000000e+00> : tile<8x4xf32>
    %81 = select %bcast_89, %70, %cst_0_f32_90 : tile<8x4xi1>, tile<8x4xf32>
    %82 = iota : tile<4xi32>
    %reshape_91 = reshape %50 : tile<i32> -> tile<1xi32>
    %bcast_92 = broadcast %reshape_91 : tile<1xi32> -> tile<4xi32>
    %83 = cmpi less_than %82, %bcast_92, signed : tile<4xi32> -> tile<4xi1>
    %reshape_93 = reshape %83 : tile<4xi1> -> tile<4x1xi1>
    %bcast_94 = broadcast %reshape_93 : tile<4x1xi1> -> tile<4x8xi1>
    %cst_0_f32_95 = constant <f32: 0.000000e+00> : tile<4x8xf32>
    %84 = select %bcast_94, %reshape_83, %cst_0_f32_95 : tile<4x8xi1>, tile<4x8xf32>
    %85 = mmaf %81, %84, %77 : tile<8x4xf32>, tile<4x8xf32>, tile<8x8xf32>
    continue %76, %68, %85 : tile<8xf32>, tile<8xf32>, tile<8x8xf32>
  }
  %reshape_33 = reshape %for#0 : tile<8xf32> -> tile<8x1xf32>
  %bcast_34 = broadcast %reshape_33 : tile<8x1xf32> -> tile<8x8xf32>
  %41 = divf %for#2, %bcast_34 rounding<full> : tile<8x8xf32>
  %reshape_35 = reshape %41 : tile<8x8xf32> -> tile<1x8x8xf32>
  %tview_36 = make_tensor_view %assume_4, shape = [%assume_assume, %assume_0, 8], strides = [%assume_assume_6, 8, 1] : tile<i32> -> tensor_view<?x?x8xf32, strides=[?,8,1]>
  %pview_37 = make_partition_view %tview_36 : partition_view<tile=(1x8x8), tensor_view<?x?x8xf32, strides=[?,8,1]>>
  %cst_0_i32_38 = constant <i32: 0> : tile<i32>
  %42 = store_view_tko weak %reshape_35, %pview_37[%5, %4, %cst_0_i32_38] : tile<1x8x8xf32>, partition_view<tile=(1x8x8), tensor_view<?x?x8xf32, strides=[?,8,1]>>, tile<i32> -> token
  return
}
