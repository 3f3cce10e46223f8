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
      %102 = addf %reduce_rhs, %reduce_lhs  : tile<f32>
      yield %102 : tile<f32>
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
    %cst_1_i64_47 = constant <i64: 1> : tile<i64>
    %53 = subi %2, %cst_1_i64_47 : tile<i64>
    %54 = mini %27, %53 signed : tile<i64>
    %cst_0_i64_48 = constant <i64: 0> : tile<i64>
    %55 = maxi %54, %cst_0_i64_48 signed : tile<i64>
    %tview_49 = make_tensor_view %assume_20, shape = [%assume_2, 4], strides = [4, 1] : tile<i32> -> tensor_view<?x4xf32, strides=[4,1]>
    %pview_50 = make_partition_view %tview_49 : partition_view<tile=(1x4), tensor_view<?x4xf32, strides=[4,1]>>
    %56 = trunci %55 : tile<i64> -> tile<i32>
    %cst_0_i32_51 = constant <i32: 0> : tile<i32>
    %tile_52, %result_token_53 = load_view_tko weak %pview_50[%56, %cst_0_i32_51] inbounds = [true, true] : partition_view<tile=(1x4), tensor_view<?x4xf32, strides=[4,1]>>, tile<i32> -> tile<1x4xf32>, token
    %reshape_54 = reshape %tile_52 : tile<1x4xf32> -> tile<4xf32>
    %reshape_55 = reshape %52 : tile<i1> -> tile<1xi1>
    %bcast_56 = broadcast %reshape_55 : tile<1xi1> -> tile<4xi1>
    %reshape_57 = reshape %cst_0_f32_45 : tile<f32> -> tile<1xf32>
    %bcast_58 = broadcast %reshape_57 : tile<1xf32> -> tile<4xf32>
    %57 = select %bcast_56, %reshape_54, %bcast_58 : tile<4xi1>, tile<4xf32>
    %58 = exti %assume_assume_24 signed : tile<i32> -> tile<i64>
    %cst_0_i64_59 = constant <i64: 0> : tile<i64>
    %59 = muli %58, %cst_0_i64_59 : tile<i64>
    %60 = offset %assume_22, %59 : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
    %result_60, %result_token_61 = load_ptr_tko weak %60 : tile<ptr<i32>> -> tile<i32>, token
    %61 = exti %result_60 signed : tile<i32> -> tile<i64>
    %cst_0_i64_62 = constant <i64: 0> : tile<i64>
    %62 = cmpi less_than %61, %cst_0_i64_62, signed : tile<i64> -> tile<i1>
    %63 = cmpi greater_than_or_equal %61, %2, signed : tile<i64> -> tile<i1>
    %64 = ori %62, %63 : tile<i1>
    %true_63 = constant <i1: true> : tile<i1>
    %65 = xori %64, %true_63 : tile<i1>
    %66 = andi %32, %65 : tile<i1>
    %67 = andi %32, %64 : tile<i1>
    %cst_1_i64_64 = constant <i64: 1> : tile<i64>
    %68 = addi %8, %cst_1_i64_64 : tile<i64>
    %cst_2_i64_65 = constant <i64: 2> : tile<i64>
    %cst_4_i64_66 = constant <i64: 4> : tile<i64>
    %69 = muli %68, %cst_4_i64_66 : tile<i64>
    %cst_4_i64_67 = constant <i64: 4> : tile<i64>
    %70 = addi %69, %cst_4_i64_67 : tile<i64>
    %cst_0_i64_68 = constant <i64: 0> : tile<i64>
    %71 = addi %70, %cst_0_i64_68 : tile<i64>
    %72 = offset %arg23, %71 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %73 = store_ptr_tko relaxed device %72, %cst_2_i64_65, %67 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_1_i64_69 = constant <i64: 1> : tile<i64>
    %74 = addi %70, %cst_1_i64_69 : tile<i64>
    %75 = offset %arg23, %74 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %76 = store_ptr_tko relaxed device %75, %61, %67 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_2_i64_70 = constant <i64: 2> : tile<i64>
    %77 = addi %70, %cst_2_i64_70 : tile<i64>
    %78 = offset %arg23, %77 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %79 = store_ptr_tko relaxed device %78, %cst_0_i64_62, %67 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_3_i64_71 = constant <i64: 3> : tile<i64>
    %80 = addi %70, %cst_3_i64_71 : tile<i64>
    %81 = offset %arg23, %80 : tile<ptr<i64>>, tile<i64> -> tile<ptr<i64>>
    %82 = store_ptr_tko relaxed device %81, %2, %67 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_1_i64_72 = constant <i64: 1> : tile<i64>
    %83 = store_ptr_tko relaxed device %arg23, %cst_1_i64_72, %67 : tile<ptr<i64>>, tile<i64>, tile<i1> -> token
    %cst_0_f32_73 = constant <f32: 0.000000e+00> : tile<f32>
    %cst_0_i64_74 = constant <i64: 0> : tile<i64>
    %84 = cmpi greater_than_or_equal %61, %cst_0_i64_74, signed : tile<i64> -> tile<i1>
    %85 = cmpi less_than %61, %2, signed : tile<i64> -> tile<i1>
    %86 = andi %84, %85 : tile<i1>
    %cst_1_i64_75 = constant <i64: 1> : tile<i64>
    %87 = subi %2, %cst_1_i64_75 : tile<i64>
    %88 = mini %61, %87 signed : tile<i64>
    %cst_0_i64_76 = constant <i64: 0> : tile<i64>
    %89 = maxi %88, %cst_0_i64_76 signed : tile<i64>
    %tview_77 = make_tensor_view %assume_21, shape = [%assume_2, 4], strides = [4, 1] : tile<i32> -> tensor_view<?x4xf32, strides=[4,1]>
    %pview_78 = make_partition_view %tview_77 : partition_view<tile=(1x4), tensor_view<?x4xf32, strides=[4,1]>>
    %90 = trunci %89 : tile<i64> -> tile<i32>
    %cst_0_i32_79 = constant <i32: 0> : tile<i32>
    %tile_80, %result_token_81 = load_view_tko weak %pview_78[%90, %cst_0_i32_79] inbounds = [true, true] : partition_view<tile=(1x4), tensor_view<?x4xf32, strides=[4,1]>>, tile<i32> -> tile<1x4xf32>, token
    %reshape_82 = reshape %tile_80 : tile<1x4xf32> -> tile<4xf32>
    %reshape_83 = reshape %86 : tile<i1> -> tile<1xi1>
    %bcast_84 = broadcast %reshape_83 : tile<1xi1> -> tile<4xi1>
    %reshape_85 = reshape %cst_0_f32_73 : tile<f32> -> tile<1xf32>
    %bcast_86 = broadcast %reshape_85 : tile<1xf32> -> tile<4xf32>
    %91 = select %bcast_84, %reshape_82, %bcast_86 : tile<4xi1>, tile<4xf32>
    %reshape_87 = reshape %23 : tile<8xf32> -> tile<1x8x1xf32>
    %cst_0_i32_88 = constant <i32: 0> : tile<i32>
    %cst_0_i32_89 = constant <i32: 0> : tile<i32>
    %92 = extract %reshape_87[%cst_0_i32_88, %cst_0_i32_89, %cst_0_i32_88] : tile<1x8x1xf32> -> tile<1x4x1xf32>
    %reshape_90 = reshape %92 : tile<1x4x1xf32> -> tile<4xf32>
    %reshape_91 = reshape %23 : tile<8xf32> -> tile<1x8x1xf32>
    %cst_0_i32_92 = constant <i32: 0> : tile<i32>
    %cst_1_i32_93 = constant <i32: 1> : tile<i32>
    %93 = extract %reshape_91[%cst_0_i32_92, %cst_1_i32_93, %cst_0_i32_92] : tile<1x8x1xf32> -> tile<1x4x1xf32>
    %reshape_94 = reshape %93 : tile<1x4x1xf32> -> tile<4xf32>
    %94 = mulf %reshape_94, %91  : tile<4xf32>
    %95 = negf %94 : tile<4xf32>
    %96 = fma %reshape_90, %57, %95  : tile<4xf32>
    %reshape_95 = reshape %23 : tile<8xf32> -> tile<1x8x1xf32>
    %cst_0_i32_96 = constant <i32: 0> : tile<i32>
    %cst_1_i32_97 = constant <i32: 1> : tile<i32>
    %97 = extract %reshape_95[%cst_0_i32_96, %cst_1_i32_97, %cst_0_i32_96] : tile<1x8x1xf32> -> tile<1x4x1xf32>
    %reshape_98 = reshape %97 : tile<1x4x1xf32> -> tile<4xf32>
    %reshape_99 = reshape %23 : tile<8xf32> -> tile<1x8x1xf32>
    %cst_0_i32_100 = constant <i32: 0> : tile<i32>
    %cst_0_i32_101 = constant <i32: 0> : tile<i32>
    %98 = extract %reshape_99[%cst_0_i32_100, %cst_0_i32_101, %cst_0_i32_100] : tile<1x8x1xf32> -> tile<1x4x1xf32>
    %reshape_102 = reshape %98 : tile<1x4x1xf32> -> tile<4xf32>
    %99 = mulf %reshape_102, %91  : tile<4xf32>
    %100 = fma %reshape_98, %57, %99  : tile<4xf32>
    %reshape_103 = reshape %96 : tile<4xf32> -> tile<1x4x1xf32>
    %reshape_104 = reshape %100 : tile<4xf32> -> tile<1x4x1xf32>
    %101 = cat %reshape_103, %reshape_104 dim = 1 : tile<1x4x1xf32>, tile<1x4x1xf32> -> tile<1x8x1xf32>
    %reshape_105 = reshape %101 : tile<1x8x1xf32> -> tile<8xf32>
    yield %reshape_105, %66 : tile<8xf32>, tile<i1>
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
