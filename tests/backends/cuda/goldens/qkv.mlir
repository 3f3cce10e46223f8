// Producer: tileproof
entry @qkv(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<i32>, %arg3: tile<ptr<f32>>, %arg4: tile<i32>, %arg5: tile<ptr<f32>>, %arg6: tile<ptr<f32>>, %arg7: tile<i32>, %arg8: tile<i32>, %arg9: tile<ptr<f32>>, %arg10: tile<ptr<f32>>, %arg11: tile<ptr<f32>>, %arg12: tile<ptr<f32>>, %arg13: tile<ptr<i32>>, %arg14: tile<i32>, %arg15: tile<i32>, %arg16: tile<i32>, %arg17: tile<i32>, %arg18: tile<i32>, %arg19: tile<i32>, %arg20: tile<f32>, %arg21: tile<i32>, %arg22: tile<i32>, %arg23: tile<ptr<i64>>) {
  %assume = assume bounded<0, ?>, %arg15 : tile<i32>
  %assume_assume = assume div_by<4>, %assume : tile<i32>
  %0 = exti %assume_assume signed : tile<i32> -> tile<i64>
  %assume_0 = assume bounded<0, ?>, %arg16 : tile<i32>
  %assume_assume_1 = assume div_by<2>, %assume_0 : tile<i32>
  %1 = exti %assume_assume_1 signed : tile<i32> -> tile<i64>
  %assume_2 = assume bounded<0, ?>, %arg17 : tile<i32>
  %2 = exti %assume_2 signed : tile<i32> -> tile<i64>
  %assume_3 = assume bounded<0, ?>, %arg18 : tile<i32>
  %3 = exti %assume_3 signed : tile<i32> -> tile<i64>
  %assume_4 = assume bounded<0, ?>, %arg19 : tile<i32>
  %assume_assume_5 = assume div_by<8>, %assume_4 : tile<i32>
  %4 = exti %assume_assume_5 signed : tile<i32> -> tile<i64>
  %assume_6 = assume div_by<16>, %arg0 : tile<ptr<f32>>
  %assume_7 = assume div_by<16>, %arg1 : tile<ptr<f32>>
  %assume_8 = assume div_by<8>, %arg2 : tile<i32>
  %assume_assume_9 = assume bounded<0, ?>, %assume_8 : tile<i32>
  %assume_10 = assume div_by<16>, %arg3 : tile<ptr<f32>>
  %assume_11 = assume div_by<8>, %arg4 : tile<i32>
  %assume_assume_12 = assume bounded<0, ?>, %assume_11 : tile<i32>
  %assume_13 = assume div_by<16>, %arg5 : tile<ptr<f32>>
  %assume_14 = assume div_by<16>, %arg6 : tile<ptr<f32>>
  %assume_15 = assume div_by<8>, %arg7 : tile<i32>
  %assume_assume_16 = assume bounded<0, ?>, %assume_15 : tile<i32>
  %assume_17 = assume bounded<0, ?>, %arg8 : tile<i32>
  %assume_18 = assume div_by<16>, %arg9 : tile<ptr<f32>>
  %assume_19 = assume div_by<16>, %arg10 : tile<ptr<f32>>
  %assume_20 = assume div_by<16>, %arg11 : tile<ptr<f32>>
  %assume_21 = assume div_by<16>, %arg12 : tile<ptr<f32>>
  %assume_22 = assume div_by<16>, %arg13 : tile<ptr<i32>>
  %assume_23 = assume div_by<16>, %arg14 : tile<i32>
  %assume_assume_24 = assume bounded<0, ?>, %assume_23 : tile<i32>
  %5 = addi %0, %1 : tile<i64>
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32>
  %6 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_1_i64 = constant <i64: 1> : tile<i64>
  %7 = addi %6, %cst_1_i64 : tile<i64>
  %8 = exti %blockId_x signed : tile<i32> -> tile<i64>
  %cst_0_f32 = constant <f32: 0.000000e+00> : tile<f32>
  %reshape = reshape %cst_0_f32 : tile<f32> -> tile<1xf32>
  %bcast = broadcast %reshape : tile<1xf32> -> tile<8xf32>
  %cst_0_i64 = constant <i64: 0> : tile<i64>
  %9 = maxi %3, %cst_0_i64 signed : tile<i64>
  %10 = trunci %9 : tile<i64> -> tile<i32>
  %cst_8_i32 = constant <i32: 8> : tile<i32>
  %11 = divi %10, %cst_8_i32 signed rounding<positive_inf> : tile<i32>
  %cst_0_i32 = constant <i32: 0> : tile<i32>
  %cst_1_i32 = constant <i32: 1> : tile<i32>
  %for = for %loopIdx in (%cst_0_i32 to %11, step %cst_1_i32) : tile<i32> iter_values(%iterArg0 = %bcast) -> (tile<8xf32>) {
    %16 = exti %loopIdx signed : tile<i32> -> tile<i64>
    %cst_8_i64 = constant <i64: 8> : tile<i64>
    %17 = muli %16, %cst_8_i64 : tile<i64>
    %cst_8_i64_25 = constant <i64: 8> : tile<i64>
    %18 = addi %17, %cst_8_i64_25 : tile<i64>
    %19 = mini %18, %3 signed : tile<i64>
    %20 = subi %3, %17 : tile<i64>
    %cst_0_i64_26 = constant <i64: 0> : tile<i64>
    %21 = maxi %20, %cst_0_i64_26 signed : tile<i64>
    %cst_8_i64_27 = constant <i64: 8> : tile<i64>
    %22 = mini %21, %cst_8_i64_27 signed : tile<i64>
    %23 = trunci %22 : tile<i64> -> tile<i32>
    %tview = make_tensor_view %assume_14, shape = [%assume_assume_5, 8, %assume_3], strides = [%assume_assume_16, %assume_17, 1] : tile<i32> -> tensor_view<?x8x?xf32, strides=[?,?,1]>
    %pview = make_partition_view %tview : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<?x8x?xf32, strides=[?,?,1]>>
    %cst_0_i32_28 = constant <i32: 0> : tile<i32>
    %tile, %result_token = load_view_tko weak %pview[%blockId_x, %cst_0_i32_28, %loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(1x8x8), padding_value = zero, tensor_view<?x8x?xf32, strides=[?,?,1]>>, tile<i32> -> tile<1x8x8xf32>, token
    %reshape_29 = reshape %tile : tile<1x8x8xf32> -> tile<8x8xf32>
    %tview_30 = make_tensor_view %assume_13, shape = [%assume_3], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %pview_31 = make_partition_view %tview_30 : partition_view<tile=(8), padding_value = zero, tensor_view<?xf32, strides=[1]>>
    %tile_32, %result_token_33 = load_view_tko weak %pview_31[%loopIdx] optimization_hints = <sm_90 = {allow_tma = false}> : partition_view<tile=(8), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %reshape_34 = reshape %tile_32 : tile<8xf32> -> tile<1x8xf32>
    %bcast_35 = broadcast %reshape_34 : tile<1x8xf32> -> tile<8x8xf32>
    %24 = mulf %reshape_29, %bcast_35  : tile<8x8xf32>
    %25 = iota : tile<8xi32>
    %reshape_36 = reshape %23 : tile<i32> -> tile<1xi32>
    %bcast_37 = broadcast %reshape_36 : tile<1xi32> -> tile<8xi32>
    %26 = cmpi less_than %25, %bcast_37, signed : tile<8xi32> -> tile<8xi1>
    %reshape_38 = reshape %26 : tile<8xi1> -> tile<1x8xi1>
    %bcast_39 = broadcast %reshape_38 : tile<1x8xi1> -> tile<8x8xi1>
    %cst_0_f32_40 = constant <f32: 0.000000e+00> : tile<8x8xf32>
    %27 = select %bcast_39, %24, %cst_0_f32_40 : tile<8x8xi1>, tile<8x8xf32>
    %reduce = reduce %27 dim=1 identities=[0.000000e+00 : f32] : tile<8x8xf32> -> tile<8xf32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %29 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %29 : tile<f32>
    }
    %28 = addf %iterArg0, %reduce  : tile<8xf32>
    continue %28 : tile<8xf32>
  }
  %12 = cmpi less_than %6, %5, signed : tile<i64> -> tile<i1>
  %true = constant <i1: true> : tile<i1>
  %13:2 = if %12 -> (tile<8xf32>, tile<i1>) {
    %16 = cmpi less_than %6, %0, signed : tile<i64> -> tile<i1>
    %tview = make_tensor_view %assume_18, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %pview = make_partition_view %tview : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %cst_0_i32_25 = constant <i32: 0> : tile<i32>
    %tile, %result_token = load_view_tko weak %pview[%cst_0_i32_25] inbounds = [true] : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %tview_26 = make_tensor_view %assume_19, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %pview_27 = make_partition_view %tview_26 : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    %cst_0_i32_28 = constant <i32: 0> : tile<i32>
    %tile_29, %result_token_30 = load_view_tko weak %pview_27[%cst_0_i32_28] inbounds = [true] : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %reshape_31 = reshape %16 : tile<i1> -> tile<1xi1>
    %bcast_32 = broadcast %reshape_31 : tile<1xi1> -> tile<8xi1>
    %17 = select %bcast_32, %tile, %tile_29 : tile<8xi1>, tile<8xf32>
    %18 = mulf %for, %for  : tile<8xf32>
    %reduce = reduce %18 dim=0 identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<f32> 
    (%reduce_lhs: tile<f32>, %reduce_rhs: tile<f32>) {
      %112 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %112 : tile<f32>
    }
    %cst_f32 = constant <f32: 1.250000e-01> : tile<f32>
    %19 = mulf %reduce, %cst_f32  : tile<f32>
    %20 = addf %19, %arg20  : tile<f32>
    %21 = rsqrt %20 : tile<f32>
    %reshape_33 = reshape %21 : tile<f32> -> tile<1xf32>
    %bcast_34 = broadcast %reshape_33 : tile<1xf32> -> tile<8xf32>
    %22 = mulf %for, %bcast_34  : tile<8xf32>
    %23 = mulf %22, %17  : tile<8xf32>
    %24 = exti %assume_assume_24 signed : tile<i32> -> tile<i64>
    %cst_0_i64_35 = constant <i64: 0> : tile<i64>
    %25 = muli %24, %cst_0_i64_35 : tile<i64>
    %26 = offset %assume_22, %25 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
    %result, %result_token_36 = load_ptr_tko weak %26 : tile<ptr<i32>> -> tile<i32>, token
    %27 = exti %result signed : tile<i32> -> tile<i64>
    %cst_0_i64_37 = constant <i64: 0> : tile<i64>
    %28 = cmpi less_than %27, %cst_0_i64_37, signed : tile<i64> -> tile<i1>
    %29 = cmpi greater_than_or_equal %27, %2, signed : tile<i64> -> tile<i1>
    %30 = ori %28, %29 : tile<i1>
    %true_38 = constant <i1: true> : tile<i1>
    %31 = xori %30, %true_38 : tile<i1>
    %32 = andi %true, %31 : tile<i1>
    %33 = andi %true, %30 : tile<i1>
    %cst_1_i64_39 = constant <i64: 1> : tile<i64>
    %34 = addi %8, %cst_1_i64_39 : tile<i64>
    %cst_1_i64_40 = constant <i64: 1> : tile<i64>
    %cst_4_i64 = constant <i64: 4> : tile<i64>
    %35 = muli %34, %cst_4_i64 : tile<i64>
    %cst_4_i64_41 = constant <i64: 4> : tile<i64>
    %36 = addi %35, %cst_4_i64_41 : tile<i64>
    %cst_0_i64_42 = constant <i64: 0> : tile<i64>
    %37 = addi %36, %cst_0_i64_42 : tile<i64>
    %38 = offset %arg23, %37 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %39 = store_ptr_tko relaxed device %38, %cst_1_i64_40, %33 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_1_i64_43 = constant <i64: 1> : tile<i64>
    %40 = addi %36, %cst_1_i64_43 : tile<i64>
    %41 = offset %arg23, %40 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %42 = store_ptr_tko relaxed device %41, %27, %33 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_2_i64 = constant <i64: 2> : tile<i64>
    %43 = addi %36, %cst_2_i64 : tile<i64>
    %44 = offset %arg23, %43 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %45 = store_ptr_tko relaxed device %44, %cst_0_i64_37, %33 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_3_i64 = constant <i64: 3> : tile<i64>
    %46 = addi %36, %cst_3_i64 : tile<i64>
    %47 = offset %arg23, %46 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %48 = store_ptr_tko relaxed device %47, %2, %33 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_1_i64_44 = constant <i64: 1> : tile<i64>
    %49 = store_ptr_tko relaxed device %arg23, %cst_1_i64_44, %33 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_0_f32_45 = constant <f32: 0.000000e+00> : tile<f32>
    %cst_0_i64_46 = constant <i64: 0> : tile<i64>
    %50 = cmpi greater_than_or_equal %27, %cst_0_i64_46, signed : tile<i64> -> tile<i1>
    %51 = cmpi less_than %27, %2, signed : tile<i64> -> tile<i1>
    %52 = andi %50, %51 : tile<i1>
    %reshape_47 = reshape %52 : tile<i1> -> tile<1xi1>
    %bcast_48 = broadcast %reshape_47 : tile<1xi1> -> tile<4xi1>
    %53 = iota : tile<4xi32>
    %cst_0_i32_49 = constant <i32: 0> : tile<i32>
    %reshape_50 = reshape %cst_0_i32_49 : tile<i32> -> tile<1xi32>
    %bcast_51 = broadcast %reshape_50 : tile<1xi32> -> tile<4xi32>
    %54 = cmpi greater_than_or_equal %53, %bcast_51, signed : tile<4xi32> -> tile<4xi1>
    %cst_4_i32 = constant <i32: 4> : tile<i32>
    %reshape_52 = reshape %cst_4_i32 : tile<i32> -> tile<1xi32>
    %bcast_53 = broadcast %reshape_52 : tile<1xi32> -> tile<4xi32>
    %55 = cmpi less_than %53, %bcast_53, signed : tile<4xi32> -> tile<4xi1>
    %56 = andi %54, %55 : tile<4xi1>
    %57 = andi %bcast_48, %56 : tile<4xi1>
    %cst_0_f32_54 = constant <f32: 0.000000e+00> : tile<4xf32>
    %cst_4_i64_55 = constant <i64: 4> : tile<i64>
    %58 = muli %27, %cst_4_i64_55 : tile<i64>
    %59 = offset %assume_20, %58 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
    %60 = iota : tile<4xi32>
    %reshape_56 = reshape %59 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_57 = broadcast %reshape_56 : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %61 = offset %bcast_57, %60 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %result_58, %result_token_59 = load_ptr_tko weak %61, %57, %cst_0_f32_54 : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, token
    %reshape_60 = reshape %cst_0_f32_45 : tile<f32> -> tile<1xf32>
    %bcast_61 = broadcast %reshape_60 : tile<1xf32> -> tile<4xf32>
    %62 = select %57, %result_58, %bcast_61 : tile<4xi1>, tile<4xf32>
    %63 = exti %assume_assume_24 signed : tile<i32> -> tile<i64>
    %cst_0_i64_62 = constant <i64: 0> : tile<i64>
    %64 = muli %63, %cst_0_i64_62 : tile<i64>
    %65 = offset %assume_22, %64 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
    %result_63, %result_token_64 = load_ptr_tko weak %65 : tile<ptr<i32>> -> tile<i32>, token
    %66 = exti %result_63 signed : tile<i32> -> tile<i64>
    %cst_0_i64_65 = constant <i64: 0> : tile<i64>
    %67 = cmpi less_than %66, %cst_0_i64_65, signed : tile<i64> -> tile<i1>
    %68 = cmpi greater_than_or_equal %66, %2, signed : tile<i64> -> tile<i1>
    %69 = ori %67, %68 : tile<i1>
    %true_66 = constant <i1: true> : tile<i1>
    %70 = xori %69, %true_66 : tile<i1>
    %71 = andi %32, %70 : tile<i1>
    %72 = andi %32, %69 : tile<i1>
    %cst_1_i64_67 = constant <i64: 1> : tile<i64>
    %73 = addi %8, %cst_1_i64_67 : tile<i64>
    %cst_2_i64_68 = constant <i64: 2> : tile<i64>
    %cst_4_i64_69 = constant <i64: 4> : tile<i64>
    %74 = muli %73, %cst_4_i64_69 : tile<i64>
    %cst_4_i64_70 = constant <i64: 4> : tile<i64>
    %75 = addi %74, %cst_4_i64_70 : tile<i64>
    %cst_0_i64_71 = constant <i64: 0> : tile<i64>
    %76 = addi %75, %cst_0_i64_71 : tile<i64>
    %77 = offset %arg23, %76 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %78 = store_ptr_tko relaxed device %77, %cst_2_i64_68, %72 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_1_i64_72 = constant <i64: 1> : tile<i64>
    %79 = addi %75, %cst_1_i64_72 : tile<i64>
    %80 = offset %arg23, %79 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %81 = store_ptr_tko relaxed device %80, %66, %72 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_2_i64_73 = constant <i64: 2> : tile<i64>
    %82 = addi %75, %cst_2_i64_73 : tile<i64>
    %83 = offset %arg23, %82 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %84 = store_ptr_tko relaxed device %83, %cst_0_i64_65, %72 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_3_i64_74 = constant <i64: 3> : tile<i64>
    %85 = addi %75, %cst_3_i64_74 : tile<i64>
    %86 = offset %arg23, %85 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %87 = store_ptr_tko relaxed device %86, %2, %72 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_1_i64_75 = constant <i64: 1> : tile<i64>
    %88 = store_ptr_tko relaxed device %arg23, %cst_1_i64_75, %72 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_0_f32_76 = constant <f32: 0.000000e+00> : tile<f32>
    %cst_0_i64_77 = constant <i64: 0> : tile<i64>
    %89 = cmpi greater_than_or_equal %66, %cst_0_i64_77, signed : tile<i64> -> tile<i1>
    %90 = cmpi less_than %66, %2, signed : tile<i64> -> tile<i1>
    %91 = andi %89, %90 : tile<i1>
    %reshape_78 = reshape %91 : tile<i1> -> tile<1xi1>
    %bcast_79 = broadcast %reshape_78 : tile<1xi1> -> tile<4xi1>
    %92 = iota : tile<4xi32>
    %cst_0_i32_80 = constant <i32: 0> : tile<i32>
    %reshape_81 = reshape %cst_0_i32_80 : tile<i32> -> tile<1xi32>
    %bcast_82 = broadcast %reshape_81 : tile<1xi32> -> tile<4xi32>
    %93 = cmpi greater_than_or_equal %92, %bcast_82, signed : tile<4xi32> -> tile<4xi1>
    %cst_4_i32_83 = constant <i32: 4> : tile<i32>
    %reshape_84 = reshape %cst_4_i32_83 : tile<i32> -> tile<1xi32>
    %bcast_85 = broadcast %reshape_84 : tile<1xi32> -> tile<4xi32>
    %94 = cmpi less_than %92, %bcast_85, signed : tile<4xi32> -> tile<4xi1>
    %95 = andi %93, %94 : tile<4xi1>
    %96 = andi %bcast_79, %95 : tile<4xi1>
    %cst_0_f32_86 = constant <f32: 0.000000e+00> : tile<4xf32>
    %cst_4_i64_87 = constant <i64: 4> : tile<i64>
    %97 = muli %66, %cst_4_i64_87 : tile<i64>
    %98 = offset %assume_21, %97 : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
    %99 = iota : tile<4xi32>
    %reshape_88 = reshape %98 : tile<ptr<f32>> -> tile<1xptr<f32>>
    %bcast_89 = broadcast %reshape_88 : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %100 = offset %bcast_89, %99 : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %result_90, %result_token_91 = load_ptr_tko weak %100, %96, %cst_0_f32_86 : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, token
    %reshape_92 = reshape %cst_0_f32_76 : tile<f32> -> tile<1xf32>
    %bcast_93 = broadcast %reshape_92 : tile<1xf32> -> tile<4xf32>
    %101 = select %96, %result_90, %bcast_93 : tile<4xi1>, tile<4xf32>
    %reshape_94 = reshape %23 : tile<8xf32> -> tile<1x8x1xf32>
    %cst_0_i32_95 = constant <i32: 0> : tile<i32>
    %cst_0_i32_96 = constant <i32: 0> : tile<i32>
    %102 = extract %reshape_94[%cst_0_i32_95, %cst_0_i32_96, %cst_0_i32_95] : tile<1x8x1xf32> -> tile<1x4x1xf32>
    %reshape_97 = reshape %102 : tile<1x4x1xf32> -> tile<4xf32>
    %reshape_98 = reshape %23 : tile<8xf32> -> tile<1x8x1xf32>
    %cst_0_i32_99 = constant <i32: 0> : tile<i32>
    %cst_1_i32_100 = constant <i32: 1> : tile<i32>
    %103 = extract %reshape_98[%cst_0_i32_99, %cst_1_i32_100, %cst_0_i32_99] : tile<1x8x1xf32> -> tile<1x4x1xf32>
    %reshape_101 = reshape %103 : tile<1x4x1xf32> -> tile<4xf32>
    %104 = mulf %reshape_101, %101  : tile<4xf32>
    %105 = negf %104 : tile<4xf32>
    %106 = fma %reshape_97, %62, %105  : tile<4xf32>
    %reshape_102 = reshape %23 : tile<8xf32> -> tile<1x8x1xf32>
    %cst_0_i32_103 = constant <i32: 0> : tile<i32>
    %cst_1_i32_104 = constant <i32: 1> : tile<i32>
    %107 = extract %reshape_102[%cst_0_i32_103, %cst_1_i32_104, %cst_0_i32_103] : tile<1x8x1xf32> -> tile<1x4x1xf32>
    %reshape_105 = reshape %107 : tile<1x4x1xf32> -> tile<4xf32>
    %reshape_106 = reshape %23 : tile<8xf32> -> tile<1x8x1xf32>
    %cst_0_i32_107 = constant <i32: 0> : tile<i32>
    %cst_0_i32_108 = constant <i32: 0> : tile<i32>
    %108 = extract %reshape_106[%cst_0_i32_107, %cst_0_i32_108, %cst_0_i32_107] : tile<1x8x1xf32> -> tile<1x4x1xf32>
    %reshape_109 = reshape %108 : tile<1x4x1xf32> -> tile<4xf32>
    %109 = mulf %reshape_109, %101  : tile<4xf32>
    %110 = fma %reshape_105, %62, %109  : tile<4xf32>
    %reshape_110 = reshape %106 : tile<4xf32> -> tile<1x4x1xf32>
    %reshape_111 = reshape %110 : tile<4xf32> -> tile<1x4x1xf32>
    %111 = cat %reshape_110, %reshape_111 dim = 1 : tile<1x4x1xf32>, tile<1x4x1xf32> -> tile<1x8x1xf32>
    %reshape_112 = reshape %111 : tile<1x8x1xf32> -> tile<8xf32>
    yield %reshape_112, %71 : tile<8xf32>, tile<i1>
  } else {
    yield %for, %true : tile<8xf32>, tile<i1>
  }
  %14 = cmpi less_than %6, %0, signed : tile<i64> -> tile<i1>
  %15 = if %14 -> (tile<i1>) {
    if %13#1 {
      %reshape_25 = reshape %13#0 : tile<8xf32> -> tile<1x8xf32>
      %tview = make_tensor_view %assume_6, shape = [%assume_assume, 8], strides = [8, 1] : tile<i32> -> tensor_view<?x8xf32, strides=[8,1]>
      %pview = make_partition_view %tview : partition_view<tile=(1x8), tensor_view<?x8xf32, strides=[8,1]>>
      %cst_0_i32_26 = constant <i32: 0> : tile<i32>
      %16 = store_view_tko weak %reshape_25, %pview[%blockId_x, %cst_0_i32_26] inbounds = [true, true] : tile<1x8xf32>, partition_view<tile=(1x8), tensor_view<?x8xf32, strides=[8,1]>>, tile<i32> -> token
    } else {
    }
    yield %13#1 : tile<i1>
  } else {
    %16 = cmpi less_than %6, %5, signed : tile<i64> -> tile<i1>
    %17 = if %16 -> (tile<i1>) {
      %18 = subi %6, %0 : tile<i64>
      %19 = exti %assume_assume_24 signed : tile<i32> -> tile<i64>
      %cst_0_i64_25 = constant <i64: 0> : tile<i64>
      %20 = muli %19, %cst_0_i64_25 : tile<i64>
      %21 = offset %assume_22, %20 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
      %result, %result_token = load_ptr_tko weak %21 : tile<ptr<i32>> -> tile<i32>, token
      %22 = exti %result signed : tile<i32> -> tile<i64>
      %cst_0_i64_26 = constant <i64: 0> : tile<i64>
      %23 = cmpi less_than %22, %cst_0_i64_26, signed : tile<i64> -> tile<i1>
      %24 = cmpi greater_than_or_equal %22, %2, signed : tile<i64> -> tile<i1>
      %25 = ori %23, %24 : tile<i1>
      %true_27 = constant <i1: true> : tile<i1>
      %26 = xori %25, %true_27 : tile<i1>
      %27 = andi %13#1, %26 : tile<i1>
      %28 = andi %13#1, %25 : tile<i1>
      %cst_1_i64_28 = constant <i64: 1> : tile<i64>
      %29 = addi %8, %cst_1_i64_28 : tile<i64>
      %cst_3_i64 = constant <i64: 3> : tile<i64>
      %cst_4_i64 = constant <i64: 4> : tile<i64>
      %30 = muli %29, %cst_4_i64 : tile<i64>
      %cst_4_i64_29 = constant <i64: 4> : tile<i64>
      %31 = addi %30, %cst_4_i64_29 : tile<i64>
      %cst_0_i64_30 = constant <i64: 0> : tile<i64>
      %32 = addi %31, %cst_0_i64_30 : tile<i64>
      %33 = offset %arg23, %32 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
      %34 = store_ptr_tko relaxed device %33, %cst_3_i64, %28 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
      %cst_1_i64_31 = constant <i64: 1> : tile<i64>
      %35 = addi %31, %cst_1_i64_31 : tile<i64>
      %36 = offset %arg23, %35 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
      %37 = store_ptr_tko relaxed device %36, %22, %28 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
      %cst_2_i64 = constant <i64: 2> : tile<i64>
      %38 = addi %31, %cst_2_i64 : tile<i64>
      %39 = offset %arg23, %38 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
      %40 = store_ptr_tko relaxed device %39, %cst_0_i64_26, %28 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
      %cst_3_i64_32 = constant <i64: 3> : tile<i64>
      %41 = addi %31, %cst_3_i64_32 : tile<i64>
      %42 = offset %arg23, %41 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
      %43 = store_ptr_tko relaxed device %42, %2, %28 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
      %cst_1_i64_33 = constant <i64: 1> : tile<i64>
      %44 = store_ptr_tko relaxed device %arg23, %cst_1_i64_33, %28 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
      if %27 {
        %reshape_34 = reshape %13#0 : tile<8xf32> -> tile<1x1x8xf32>
        %tview = make_tensor_view %assume_7, shape = [%assume_assume_1, %assume_2, 8], strides = [%assume_assume_9, 8, 1] : tile<i32> -> tensor_view<?x?x8xf32, strides=[?,8,1]>
        %pview = make_partition_view %tview : partition_view<tile=(1x1x8), tensor_view<?x?x8xf32, strides=[?,8,1]>>
        %45 = trunci %18 : tile<i64> -> tile<i32>
        %cst_0_i32_35 = constant <i32: 0> : tile<i32>
        %46 = store_view_tko weak %reshape_34, %pview[%45, %result, %cst_0_i32_35] inbounds = [true, true, true] : tile<1x1x8xf32>, partition_view<tile=(1x1x8), tensor_view<?x?x8xf32, strides=[?,8,1]>>, tile<i32> -> token
      } else {
      }
      yield %27 : tile<i1>
    } else {
      %18 = subi %6, %5 : tile<i64>
      %19 = exti %assume_assume_24 signed : tile<i32> -> tile<i64>
      %cst_0_i64_25 = constant <i64: 0> : tile<i64>
      %20 = muli %19, %cst_0_i64_25 : tile<i64>
      %21 = offset %assume_22, %20 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
      %result, %result_token = load_ptr_tko weak %21 : tile<ptr<i32>> -> tile<i32>, token
      %22 = exti %result signed : tile<i32> -> tile<i64>
      %cst_0_i64_26 = constant <i64: 0> : tile<i64>
      %23 = cmpi less_than %22, %cst_0_i64_26, signed : tile<i64> -> tile<i1>
      %24 = cmpi greater_than_or_equal %22, %2, signed : tile<i64> -> tile<i1>
      %25 = ori %23, %24 : tile<i1>
      %true_27 = constant <i1: true> : tile<i1>
      %26 = xori %25, %true_27 : tile<i1>
      %27 = andi %13#1, %26 : tile<i1>
      %28 = andi %13#1, %25 : tile<i1>
      %cst_1_i64_28 = constant <i64: 1> : tile<i64>
      %29 = addi %8, %cst_1_i64_28 : tile<i64>
      %cst_4_i64 = constant <i64: 4> : tile<i64>
      %cst_4_i64_29 = constant <i64: 4> : tile<i64>
      %30 = muli %29, %cst_4_i64_29 : tile<i64>
      %cst_4_i64_30 = constant <i64: 4> : tile<i64>
      %31 = addi %30, %cst_4_i64_30 : tile<i64>
      %cst_0_i64_31 = constant <i64: 0> : tile<i64>
      %32 = addi %31, %cst_0_i64_31 : tile<i64>
      %33 = offset %arg23, %32 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
      %34 = store_ptr_tko relaxed device %33, %cst_4_i64, %28 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
      %cst_1_i64_32 = constant <i64: 1> : tile<i64>
      %35 = addi %31, %cst_1_i64_32 : tile<i64>
      %36 = offset %arg23, %35 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
      %37 = store_ptr_tko relaxed device %36, %22, %28 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
      %cst_2_i64 = constant <i64: 2> : tile<i64>
      %38 = addi %31, %cst_2_i64 : tile<i64>
      %39 = offset %arg23, %38 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
      %40 = store_ptr_tko relaxed device %39, %cst_0_i64_26, %28 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
      %cst_3_i64 = constant <i64: 3> : tile<i64>
      %41 = addi %31, %cst_3_i64 : tile<i64>
      %42 = offset %arg23, %41 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
      %43 = store_ptr_tko relaxed device %42, %2, %28 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
      %cst_1_i64_33 = constant <i64: 1> : tile<i64>
      %44 = store_ptr_tko relaxed device %arg23, %cst_1_i64_33, %28 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
      if %27 {
        %reshape_34 = reshape %13#0 : tile<8xf32> -> tile<1x1x8xf32>
        %tview = make_tensor_view %assume_10, shape = [%assume_assume_1, %assume_2, 8], strides = [%assume_assume_12, 8, 1] : tile<i32> -> tensor_view<?x?x8xf32, strides=[?,8,1]>
        %pview = make_partition_view %tview : partition_view<tile=(1x1x8), tensor_view<?x?x8xf32, strides=[?,8,1]>>
        %45 = trunci %18 : tile<i64> -> tile<i32>
        %cst_0_i32_35 = constant <i32: 0> : tile<i32>
        %46 = store_view_tko weak %reshape_34, %pview[%45, %result, %cst_0_i32_35] inbounds = [true, true, true] : tile<1x1x8xf32>, partition_view<tile=(1x1x8), tensor_view<?x?x8xf32, strides=[?,8,1]>>, tile<i32> -> token
      } else {
      }
      yield %27 : tile<i1>
    }
    yield %17 : tile<i1>
  }
  return
}
