// Producer: tileproof
entry @paged_attention(%arg0: tile<ptr<f32>>, %arg1: tile<i32>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<ptr<f32>>, %arg5: tile<i32>, %arg6: tile<ptr<f32>>, %arg7: tile<i32>, %arg8: tile<ptr<i32>>, %arg9: tile<i32>, %arg10: tile<ptr<i32>>, %arg11: tile<i32>, %arg12: tile<i32>, %arg13: tile<i32>, %arg14: tile<i32>, %arg15: tile<f32>, %arg16: tile<i32>, %arg17: tile<i32>, %arg18: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg11 : tile<i32>
  %0 = exti %assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg12 : tile<i32>
  %assume_assume = assume div_by<2>, %assume_0 : tile<i32>
  %1 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_1 = assume bounded<0, ?>, %arg13 : tile<i32>
  %2 = exti %assume_1 signed : tile<i32> -> tile<i64>
  %assume_2 = assume bounded<0, ?>, %arg14 : tile<i32>
  %assume_assume_3 = assume div_by<4>, %assume_2 : tile<i32>
  %3 = exti %assume_assume_3 signed : tile<i32> -> tile<i64>
  %assume_4 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_5 = assume div_by<16>, %arg1 : tile<i32>
  %assume_assume_6 = assume bounded<0, ?>, %assume_5 : tile<i32>
  %assume_7 = assume div_by<16>, %arg2 : tile<ptr<f32>>
  %assume_8 = assume div_by<16>, %arg3 : tile<i32>
  %assume_assume_9 = assume bounded<0, ?>, %assume_8 : tile<i32>
  %assume_10 = assume div_by<16>, %arg4 : tile<ptr<f32>>
  %assume_11 = assume div_by<16>, %arg5 : tile<i32>
  %assume_assume_12 = assume bounded<0, ?>, %assume_11 : tile<i32>
  %assume_13 = assume div_by<16>, %arg6 : tile<ptr<f32>>
  %assume_14 = assume div_by<16>, %arg7 : tile<i32>
  %assume_assume_15 = assume bounded<0, ?>, %assume_14 : tile<i32>
  %assume_16 = assume div_by<16>, %arg8 : tile<ptr<i32>>
  %assume_17 = assume div_by<4>, %arg9 : tile<i32>
  %assume_assume_18 = assume bounded<0, ?>, %assume_17 : tile<i32>
  %assume_19 = assume div_by<16>, %arg10 : tile<ptr<i32>>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %4 = remi %blockId_x, %arg17 signed : tile<i32>
  %5 = divi %blockId_x, %arg17 signed : tile<i32>
  %6 = exti %5 signed : tile<i32> -> tile<i64>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %7 = addi %6, %cst_1_i64 : tile<i64>
  %8 = exti %4 signed : tile<i32> -> tile<i64>
  %cst_1_i64_20 = constant <i64: 1> : tile<i64>
  %9 = addi %8, %cst_1_i64_20 : tile<i64>
  %10 = muli %5, %arg17 : tile<i32>
  %11 = addi %10, %4 : tile<i32>
  %12 = exti %11 signed : tile<i32> -> tile<i64>
  %cst_f32 = constant <f32: 0xFF800000> : tile<f32>
  %reshape = reshape %cst_f32 : tile<f32> -> tile<1xf32>
  %bcast = broadcast %reshape : tile<1xf32> -> tile<2xf32>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape_21 = reshape %cst_0_f32 : tile<f32> -> tile<1xf32>
  %bcast_22 = broadcast %reshape_21 : tile<1xf32> -> tile<2xf32>
  %reshape_23 = reshape %cst_0_f32 : tile<f32> -> tile<1x1xf32>
  %bcast_24 = broadcast %reshape_23 : tile<1x1xf32> -> tile<2x8xf32>
  %13 = offset %assume_19, %6 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
  %result, %result_token = load_ptr_tko weak %13 : tile<ptr<i32>> -> tile<i32>, token
  %cst_5_i32 = constant <i32: 5> : tile<i32>
  %cst_5_i32_25 = constant <i32: 5> : tile<i32>
  %14 = divi %result, %cst_5_i32_25 signed rounding<positive_inf> : tile<i32>
  %15 = exti %14 signed : tile<i32> -> tile<i64>
  %16 = mini %3, %15 signed : tile<i64>
  %17 = offset %assume_19, %6 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
  %result_26, %result_token_27 = load_ptr_tko weak %17 : tile<ptr<i32>> -> tile<i32>, token
  %18 = exti %result_26 signed : tile<i32> -> tile<i64>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %19 = maxi %16, %cst_0_i64 signed : tile<i64>
  %20 = trunci %19 : tile<i64> -> tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for:3 = for %loopIdx in (%cst_0_i32 to %20, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast_24, %iterArg1 = %bcast_22, %iterArg2 = %bcast) -> (tile<2x8xf32>, tile<2xf32>, tile<2xf32>) {
    %23 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_1_i64_33 = constant <i64: 1> : tile<i64>
    %24 = addi %23, %cst_1_i64_33 : tile<i64>
    %25 = exti %assume_assume_18 signed : tile<i32> -> tile<i64>
    %26 = muli %6, %25 : tile<i64>
    %27 = addi %26, %23 : tile<i64>
    %28 = offset %assume_16, %27 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
    %result_34, %result_token_35 = load_ptr_tko weak %28 : tile<ptr<i32>> -> tile<i32>, token
    %29 = exti %result_34 signed : tile<i32> -> tile<i64>
    %cst_5_i64 = constant <i64: 5> : tile<i64>
    %30 = muli %23, %cst_5_i64 : tile<i64>
    %31 = subi %18, %30 : tile<i64>
    %cst_5_i64_36 = constant <i64: 5> : tile<i64>
    %32 = mini %cst_5_i64_36, %31 signed : tile<i64>
    %tview_37 = make_tensor_view %assume_7, shape = [%assume, %assume_assume, 2, 8], strides = [%assume_assume_9, 16, 8, 1] : tile<i32> -> tensor_view<?x?x2x8xf32, strides=[?,16,8,1]>
    %pview_38 = make_partition_view %tview_37 : partition_view<tile=(1x1x2x8), tensor_view<?x?x2x8xf32, strides=[?,16,8,1]>>
    %cst_0_i32_39 = constant <i32: 0> : tile<i32>
    %cst_0_i32_40 = constant <i32: 0> : tile<i32>
    %tile, %result_token_41 = load_view_tko weak %pview_38[%5, %4, %cst_0_i32_39, %cst_0_i32_40] inbounds = [true, true, true, true] : partition_view<tile=(1x1x2x8), tensor_view<?x?x2x8xf32, strides=[?,16,8,1]>>, tile<i32> -> tile<1x1x2x8xf32>, token
    %reshape_42 = reshape %tile : tile<1x1x2x8xf32> -> tile<2x8xf32>
    %cst_0_i64_43 = constant <i64: 0> : tile<i64>
    %33 = maxi %32, %cst_0_i64_43 signed : tile<i64>
    %34 = trunci %33 : tile<i64> -> tile<i32>
    %cst_2_i32 = constant <i32: 2> : tile<i32>
    %35 = divi %34, %cst_2_i32 signed rounding<positive_inf> : tile<i32>
    %cst_0_i32_44 = constant <i32: 0> : tile<i32>
    %cst_1_i32_45 = constant <i32: 1> : tile<i32>
    %for_46:3 = for %loopIdx_47 in (%cst_0_i32_44 to %35, step %cst_1_i32_45) : tile<i32> iter_values(%iterArg0_48 = %iterArg1, %iterArg1_49 = %iterArg2, %iterArg2_50 = %iterArg0) -> (tile<2xf32>, tile<2xf32>, tile<2x8xf32>) {
      %36 = exti %loopIdx_47 signed : tile<i32> -> tile<i64>
      %cst_2_i64 = constant <i64: 2> : tile<i64>
      %37 = muli %36, %cst_2_i64 : tile<i64>
      %cst_2_i64_51 = constant <i64: 2> : tile<i64>
      %38 = addi %37, %cst_2_i64_51 : tile<i64>
      %39 = mini %38, %32 signed : tile<i64>
      %40 = subi %32, %37 : tile<i64>
      %cst_0_i64_52 = constant <i64: 0> : tile<i64>
      %41 = maxi %40, %cst_0_i64_52 signed : tile<i64>
      %cst_2_i64_53 = constant <i64: 2> : tile<i64>
      %42 = mini %41, %cst_2_i64_53 signed : tile<i64>
      %43 = trunci %42 : tile<i64> -> tile<i32>
      %cst_0_i64_54 = constant <i64: 0> : tile<i64>
      %44 = cmpi greater_than_or_equal %29, %cst_0_i64_54, signed : tile<i64> -> tile<i1>
      %reshape_55 = reshape %44 : tile<i1> -> tile<1x1xi1>
      %bcast_56 = broadcast %reshape_55 : tile<1x1xi1> -> tile<2x8xi1>
      %45 = iota : tile<2xi32>
      %reshape_57 = reshape %43 : tile<i32> -> tile<1xi32>
      %bcast_58 = broadcast %reshape_57 : tile<1xi32> -> tile<2xi32>
      %46 = cmpi less_than %45, %bcast_58, signed : tile<2xi32> -> tile<2xi1>
      %reshape_59 = reshape %46 : tile<2xi1> -> tile<2x1xi1>
      %bcast_60 = broadcast %reshape_59 : tile<2x1xi1> -> tile<2x8xi1>
      %47 = andi %bcast_56, %bcast_60 : tile<2x8xi1>
      %cst_0_f32_61 = constant <f32: 0.000000e+00> : tile<2x8xf32>
      %48 = exti %assume_assume_12 signed : tile<i32> -> tile<i64>
      %49 = muli %29, %48 : tile<i64>
      %cst_40_i64 = constant <i64: 40> : tile<i64>
      %50 = muli %8, %cst_40_i64 : tile<i64>
      %51 = addi %49, %50 : tile<i64>
      %cst_8_i64 = constant <i64: 8> : tile<i64>
      %52 = muli %37, %cst_8_i64 : tile<i64>
      %53 = addi %51, %52 : tile<i64>
      %54 = offset %assume_10, %53 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
      %55 = iota : tile<2xi32>
      %cst_8_i32 = constant <i32: 8> : tile<i32>
      %reshape_62 = reshape %cst_8_i32 : tile<i32> -> tile<1xi32>
      %bcast_63 = broadcast %reshape_62 : tile<1xi32> -> tile<2xi32>
      %56 = muli %55, %bcast_63 : tile<2xi32>
      %reshape_64 = reshape %56 : tile<2xi32> -> tile<2x1xi32>
      %bcast_65 = broadcast %reshape_64 : tile<2x1xi32> -> tile<2x8xi32>
      %57 = iota : tile<8xi32>
      %reshape_66 = reshape %57 : tile<8xi32> -> tile<1x8xi32>
      %bcast_67 = broadcast %reshape_66 : tile<1x8xi32> -> tile<2x8xi32>
      %58 = addi %bcast_65, %bcast_67 : tile<2x8xi32>
      %reshape_68 = reshape %54 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
      %bcast_69 = broadcast %reshape_68 : tile<1x1xptr<f32>> -> tile<2x8xptr<f32>>
      %59 = offset %bcast_69, %58 : tile<2x8xptr<f32>>, tile<2x8xi32> -> tile<2x8xptr<f32>>
      %result_70, %result_token_71 = load_ptr_tko weak %59, %47, %cst_0_f32_61 : tile<2x8xptr<f32>>, tile<2x8xi1>, tile<2x8xf32> -> tile<2x8xf32>, token
      %60 = permute %result_70 [1, 0] : tile<2x8xf32> -> tile<8x2xf32>
      %cst_0_f32_72 = constant <f32: 0.000000e+00> : tile<f32>
      %reshape_73 = reshape %cst_0_f32_72 : tile<f32> -> tile<1x1xf32>
      %bcast_74 = broadcast %reshape_73 : tile<1x1xf32> -> tile<2x2xf32>
      %61 = mmaf %reshape_42, %60, %bcast_74 : tile<2x8xf32>, tile<8x2xf32>, tile<2x2xf32>
      %reshape_75 = reshape %arg15 : tile<f32> -> tile<1x1xf32>
      %bcast_76 = broadcast %reshape_75 : tile<1x1xf32> -> tile<2x2xf32>
      %62 = mulf %61, %bcast_76  : tile<2x2xf32>
      %63 = iota : tile<2xi32>
      %reshape_77 = reshape %43 : tile<i32> -> tile<1xi32>
      %bcast_78 = broadcast %reshape_77 : tile<1xi32> -> tile<2xi32>
      %64 = cmpi less_than %63, %bcast_78, signed : tile<2xi32> -> tile<2xi1>
      %reshape_79 = reshape %64 : tile<2xi1> -> tile<1x2xi1>
      %bcast_80 = broadcast %reshape_79 : tile<1x2xi1> -> tile<2x2xi1>
      %cst_f32_81 = constant <f32: 0xFF800000> : tile<2x2xf32>
      %65 = select %bcast_80, %62, %cst_f32_81 : tile<2x2xi1>, tile<2x2xf32>
      %reduce = reduce %65 dim=1 identities=[0xFF800000 : f32] : tile<2x2xf32> -> tile<2xf32> 
      (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
        %96 = maxf %reduce_rhs, %reduce_lhs propagate_nan : tile<f32>
        yield %96 : tile<f32>
      }
      %66 = maxf %iterArg1_49, %reduce propagate_nan : tile<2xf32>
      %reshape_82 = reshape %66 : tile<2xf32> -> tile<2x1xf32>
      %bcast_83 = broadcast %reshape_82 : tile<2x1xf32> -> tile<2x2xf32>
      %67 = subf %62, %bcast_83  : tile<2x2xf32>
      %68 = exp %67  : tile<2x2xf32>
      %69 = subf %iterArg1_49, %66  : tile<2xf32>
      %70 = exp %69  : tile<2xf32>
      %71 = iota : tile<2xi32>
      %reshape_84 = reshape %43 : tile<i32> -> tile<1xi32>
      %bcast_85 = broadcast %reshape_84 : tile<1xi32> -> tile<2xi32>
      %72 = cmpi less_than %71, %bcast_85, signed : tile<2xi32> -> tile<2xi1>
      %reshape_86 = reshape %72 : tile<2xi1> -> tile<1x2xi1>
      %bcast_87 = broadcast %reshape_86 : tile<1x2xi1> -> tile<2x2xi1>
      %cst_0_f32_88 = constant <f32: 0.000000e+00> : tile<2x2xf32>
      %73 = select %bcast_87, %68, %cst_0_f32_88 : tile<2x2xi1>, tile<2x2xf32>
      %reduce_89 = reduce %73 dim=1 identities=[0.000000e+00 : f32] : tile<2x2xf32> -> tile<2xf32> 
      (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
        %96 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
        yield %96 : tile<f32>
      }
      %74 = fma %iterArg0_48, %70, %reduce_89  : tile<2xf32>
      %reshape_90 = reshape %70 : tile<2xf32> -> tile<2x1xf32>
      %bcast_91 = broadcast %reshape_90 : tile<2x1xf32> -> tile<2x8xf32>
      %75 = mulf %iterArg2_50, %bcast_91  : tile<2x8xf32>
      %cst_0_i64_92 = constant <i64: 0> : tile<i64>
      %76 = cmpi greater_than_or_equal %29, %cst_0_i64_92, signed : tile<i64> -> tile<i1>
      %reshape_93 = reshape %76 : tile<i1> -> tile<1x1xi1>
      %bcast_94 = broadcast %reshape_93 : tile<1x1xi1> -> tile<2x8xi1>
      %77 = iota : tile<2xi32>
      %reshape_95 = reshape %43 : tile<i32> -> tile<1xi32>
      %bcast_96 = broadcast %reshape_95 : tile<1xi32> -> tile<2xi32>
      %78 = cmpi less_than %77, %bcast_96, signed : tile<2xi32> -> tile<2xi1>
      %reshape_97 = reshape %78 : tile<2xi1> -> tile<2x1xi1>
      %bcast_98 = broadcast %reshape_97 : tile<2x1xi1> -> tile<2x8xi1>
      %79 = andi %bcast_94, %bcast_98 : tile<2x8xi1>
      %cst_0_f32_99 = constant <f32: 0.000000e+00> : tile<2x8xf32>
      %80 = exti %assume_assume_15 signed : tile<i32> -> tile<i64>
      %81 = muli %29, %80 : tile<i64>
      %cst_40_i64_100 = constant <i64: 40> : tile<i64>
      %82 = muli %8, %cst_40_i64_100 : tile<i64>
      %83 = addi %81, %82 : tile<i64>
      %cst_8_i64_101 = constant <i64: 8> : tile<i64>
      %84 = muli %37, %cst_8_i64_101 : tile<i64>
      %85 = addi %83, %84 : tile<i64>
      %86 = offset %assume_13, %85 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
      %87 = iota : tile<2xi32>
      %cst_8_i32_102 = constant <i32: 8> : tile<i32>
      %reshape_103 = reshape %cst_8_i32_102 : tile<i32> -> tile<1xi32>
      %bcast_104 = broadcast %reshape_103 : tile<1xi32> -> tile<2xi32>
      %88 = muli %87, %bcast_104 : tile<2xi32>
      %reshape_105 = reshape %88 : tile<2xi32> -> tile<2x1xi32>
      %bcast_106 = broadcast %reshape_105 : tile<2x1xi32> -> tile<2x8xi32>
      %89 = iota : tile<8xi32>
      %reshape_107 = reshape %89 : tile<8xi32> -> tile<1x8xi32>
      %bcast_108 = broadcast %reshape_107 : tile<1x8xi32> -> tile<2x8xi32>
      %90 = addi %bcast_106, %bcast_108 : tile<2x8xi32>
      %reshape_109 = reshape %86 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
      %bcast_110 = broadcast %reshape_109 : tile<1x1xptr<f32>> -> tile<2x8xptr<f32>>
      %91 = offset %bcast_110, %90 : tile<2x8xptr<f32>>, tile<2x8xi32> -> tile<2x8xptr<f32>>
      %result_111, %result_token_112 = load_ptr_tko weak %91, %79, %cst_0_f32_99 : tile<2x8xptr<f32>>, tile<2x8xi1>, tile<2x8xf32> -> tile<2x8xf32>, token
      %reshape_113 = reshape %cst_0_f32_72 : tile<f32> -> tile<1x1xf32>
      %bcast_114 = broadcast %reshape_113 : tile<1x1xf32> -> tile<2x8xf32>
      %92 = iota : tile<2xi32>
      %reshape_115 = reshape %43 : tile<i32> -> tile<1xi32>
      %bcast_116 = broadcast %reshape_115 : tile<1xi32> -> tile<2xi32>
      %93 = cmpi less_than %92, %bcast_116, signed : tile<2xi32> -> tile<2xi1>
      %reshape_117 = reshape %93 : tile<2xi1> -> tile<1x2xi1>
      %bcast_118 = broadcast %reshape_117 : tile<1x2xi1> -> tile<2x2xi1>
      %cst_0_f32_119 = constant <f32: 0.000000e+00> : tile<2x2xf32>
      %94 = select %bcast_118, %68, %cst_0_f32_119 : tile<2x2xi1>, tile<2x2xf32>
      %95 = mmaf %94, %result_111, %75 : tile<2x2xf32>, tile<2x8xf32>, tile<2x8xf32>
      continue %74, %66, %95 : tile<2xf32>, tile<2xf32>, tile<2x8xf32>
    }
    continue %for_46#2, %for_46#0, %for_46#1 : tile<2x8xf32>, tile<2xf32>, tile<2xf32>
  }
  %reshape_28 = reshape %for#1 : tile<2xf32> -> tile<2x1xf32>
  %bcast_29 = broadcast %reshape_28 : tile<2x1xf32> -> tile<2x8xf32>
  %21 = divf %for#0, %bcast_29 rounding<full> : tile<2x8xf32>
  %reshape_30 = reshape %21 : tile<2x8xf32> -> tile<1x1x2x8xf32>
  %tview = make_tensor_view %assume_4, shape = [%assume, %assume_assume, 2, 8], strides = [%assume_assume_6, 16, 8, 1] : tile<i32> -> tensor_view<?x?x2x8xf32, strides=[?,16,8,1]>
  %pview = make_partition_view %tview : partition_view<tile=(1x1x2x8), tensor_view<?x?x2x8xf32, strides=[?,16,8,1]>>
  %cst_0_i32_31 = constant <i32: 0> : tile<i32>
  %cst_0_i32_32 = constant <i32: 0> : tile<i32>
  %22 = store_view_tko weak %reshape_30, %pview[%5, %4, %cst_0_i32_31, %cst_0_i32_32] inbounds = [true, true, true, true] : tile<1x1x2x8xf32>, partition_view<tile=(1x1x2x8), tensor_view<?x?x2x8xf32, strides=[?,16,8,1]>>, tile<i32> -> token
  return
}
