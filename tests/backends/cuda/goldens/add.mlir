// Producer: tileproof
entry @add(%arg0: tile<ptr<f32>>, %arg1: tile<ptr<f32>>, %arg2: tile<ptr<f32>>, %arg3: tile<i32>, %arg4: tile<i32>, %arg5: tile<i32>) {
  %assume = assume bounded<0, ?>, %arg3 : tile<i32> loc(#loc4)
  %assume_assume = assume div_by<4>, %assume : tile<i32> loc(#loc4)
  %0 = exti %assume_assume signed : tile<i32> -> tile<i64> loc(#loc4)
  %assume_0 = assume div_by<16>, %arg0 : tile<ptr<f32>> loc(#loc4)
  %assume_1 = assume div_by<16>, %arg1 : tile<ptr<f32>> loc(#loc4)
  %assume_2 = assume div_by<16>, %arg2 : tile<ptr<f32>> loc(#loc4)
  %blockId_x, %blockId_y, %blockId_z = get_tile_block_id : tile<i32> loc(#loc4)
  %1 = exti %blockId_x signed : tile<i32> -> tile<i64> loc(#loc4)
  %cst_16_i64 = constant <i64: 16> : tile<i64> loc(#loc4)
  %2 = muli %1, %cst_16_i64 : tile<i64> loc(#loc4)
  %cst_16_i64_3 = constant <i64: 16> : tile<i64> loc(#loc4)
  %3 = addi %2, %cst_16_i64_3 : tile<i64> loc(#loc4)
  %4 = mini %3, %0 signed : tile<i64> loc(#loc4)
  %5 = subi %0, %2 : tile<i64> loc(#loc4)
  %cst_0_i64 = constant <i64: 0> : tile<i64> loc(#loc4)
  %6 = maxi %5, %cst_0_i64 signed : tile<i64> loc(#loc4)
  %cst_16_i64_4 = constant <i64: 16> : tile<i64> loc(#loc4)
  %7 = mini %6, %cst_16_i64_4 signed : tile<i64> loc(#loc4)
  %8 = trunci %7 : tile<i64> -> tile<i32> loc(#loc4)
  %9 = exti %blockId_x signed : tile<i32> -> tile<i64> loc(#loc4)
  %tview = make_tensor_view %assume_1, shape = [%assume_assume], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]> loc(#loc5)
  %pview = make_partition_view %tview : partition_view<tile=(16), padding_value = zero, tensor_view<?xf32, strides=[1]>> loc(#loc5)
  %tile, %result_token = load_view_tko weak %pview[%blockId_x] : partition_view<tile=(16), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<16xf32>, token loc(#loc5)
  %tview_5 = make_tensor_view %assume_2, shape = [%assume_assume], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]> loc(#loc6)
  %pview_6 = make_partition_view %tview_5 : partition_view<tile=(16), padding_value = zero, tensor_view<?xf32, strides=[1]>> loc(#loc6)
  %tile_7, %result_token_8 = load_view_tko weak %pview_6[%blockId_x] : partition_view<tile=(16), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<16xf32>, token loc(#loc6)
  %10 = addf %tile, %tile_7  : tile<16xf32> loc(#loc5)
  %tview_9 = make_tensor_view %assume_0, shape = [%assume_assume], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]> loc(#loc7)
  %pview_10 = make_partition_view %tview_9 : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>> loc(#loc7)
  %11 = store_view_tko weak %10, %pview_10[%blockId_x] : tile<16xf32>, partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token loc(#loc7)
  return loc(#loc7)
} loc(#loc4)
#di_file = #cuda_tile.di_file<"add.py" in "">
#loc = loc("add.py":12:5)
#loc1 = loc("add.py":15:16)
#loc2 = loc("add.py":15:23)
#loc3 = loc("add.py":15:9)
#di_compile_unit = #cuda_tile.di_compile_unit<file = #di_file>
#di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 12, name = "add", linkageName = "add", compileUnit = #di_compile_unit, scopeLine = 12>
#loc4 = #cuda_tile.di_loc<#loc in #di_subprogram>
#loc5 = #cuda_tile.di_loc<#loc1 in #di_subprogram>
#loc6 = #cuda_tile.di_loc<#loc2 in #di_subprogram>
#loc7 = #cuda_tile.di_loc<#loc3 in #di_subprogram>
