; Made by tools/build_native.py of fast.c, whose sha256 is dff83e10ef7b80211c7ce045c643615ba65cd9017479ce99337f11ecdfc333f3

%struct.entry = type { i64, i64, i64 }
%struct.span = type { i64, i64, i64 }
%struct.seen = type { i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, ptr, ptr, i64, double, ptr, i64 }
%struct.launch = type { [160 x i64], [32 x %struct.span], [32 x ptr], i32, i32, [32 x i64], i64, i64 }
%struct.reader = type { ptr, i64, ptr, i64 }
%struct.kept = type { ptr, i64, i64 }
%struct.chosen = type { i64, ptr, i32, i32 }
%struct.dlpack_tensor = type { ptr, i32, i32, i32, i32, ptr, ptr, i64 }
%struct.argument = type { i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i64, [2 x i64], i64, i64, i64, i64, i64, double, [8 x %struct.axis] }
%struct.axis = type { i64, [2 x i64], i32, i32 }
%struct.divided = type { i32, i32, i64 }
%struct.source = type { i32, i32, i32, i32, i64 }
%struct.attribute = type { i32, i32, i32, [15 x i32] }
%struct.config = type { [3 x i32], [3 x i32], i32, ptr, ptr, i32 }

@runtime = internal unnamed_addr global ptr null, align 8

define void @tileproof_fast_conflicts(ptr readonly %0, ptr readonly captures(address) %1, ptr readonly %2, i64 %3, ptr %4) nounwind {
  %6 = getelementptr inbounds i8, ptr %0, i64 16
  %7 = load i64, ptr %6, align 8
  %8 = icmp sgt i64 %7, 0
  br i1 %8, label %9, label %15

9:
  %10 = getelementptr inbounds i8, ptr %0, i64 24
  %11 = load ptr, ptr %10, align 8
  %12 = icmp ne ptr %1, null
  %13 = getelementptr inbounds i8, ptr %1, i64 56
  %14 = icmp sgt i64 %3, 0
  br label %16

15:
  ret void

16:
  %17 = phi i64 [ 0, %9 ], [ %77, %74 ]
  %18 = getelementptr inbounds ptr, ptr %11, i64 %17
  %19 = load ptr, ptr %18, align 8
  %20 = icmp eq ptr %19, null
  %21 = icmp eq ptr %19, %1
  %22 = or i1 %20, %21
  br i1 %22, label %74, label %23

23:
  %24 = icmp samesign ult i64 %17, 64
  %25 = and i1 %12, %24
  br i1 %25, label %26, label %29

26:
  %27 = getelementptr inbounds i64, ptr %13, i64 %17
  %28 = load i64, ptr %27, align 8
  br label %29

29:
  %30 = phi i64 [ %28, %26 ], [ 0, %23 ]
  %31 = getelementptr inbounds i8, ptr %19, i64 24
  %32 = load i64, ptr %31, align 8
  %33 = getelementptr inbounds i8, ptr %19, i64 32
  %34 = load i64, ptr %33, align 8
  %35 = icmp sgt i64 %32, %34
  br i1 %35, label %36, label %74

36:
  %37 = getelementptr inbounds i8, ptr %19, i64 568
  br label %38

38:
  %39 = phi i64 [ %32, %36 ], [ %40, %72 ]
  %40 = add nsw i64 %39, -1
  %41 = and i64 %40, 16383
  %42 = getelementptr inbounds %struct.entry, ptr %37, i64 %41
  %43 = getelementptr inbounds i8, ptr %42, i64 16
  %44 = load i64, ptr %43, align 8
  %45 = ashr i64 %44, 1
  %46 = icmp sgt i64 %45, %30
  br i1 %46, label %47, label %74

47:
  br i1 %14, label %48, label %72

48:
  %49 = and i64 %44, 1
  %50 = getelementptr inbounds i8, ptr %42, i64 8
  br label %51

51:
  %52 = phi i64 [ 0, %48 ], [ %70, %69 ]
  %53 = getelementptr inbounds %struct.span, ptr %2, i64 %52
  %54 = getelementptr inbounds i8, ptr %53, i64 16
  %55 = load i64, ptr %54, align 8
  %56 = or i64 %55, %49
  %57 = icmp eq i64 %56, 0
  br i1 %57, label %69, label %58

58:
  %59 = load i64, ptr %42, align 8
  %60 = getelementptr inbounds i8, ptr %53, i64 8
  %61 = load i64, ptr %60, align 8
  %62 = icmp ult i64 %59, %61
  br i1 %62, label %63, label %69

63:
  %64 = load i64, ptr %53, align 8
  %65 = load i64, ptr %50, align 8
  %66 = icmp uge i64 %64, %65
  %67 = icmp eq i64 %64, %61
  %68 = or i1 %67, %66
  br i1 %68, label %69, label %74

69:
  %70 = add nuw nsw i64 %52, 1
  %71 = icmp eq i64 %70, %3
  br i1 %71, label %72, label %51

72:
  %73 = icmp sgt i64 %40, %34
  br i1 %73, label %38, label %74

74:
  %75 = phi i64 [ 0, %16 ], [ 0, %29 ], [ %45, %63 ], [ 0, %38 ], [ 0, %72 ]
  %76 = getelementptr inbounds i64, ptr %4, i64 %17
  store i64 %75, ptr %76, align 8
  %77 = add nuw nsw i64 %17, 1
  %78 = load i64, ptr %6, align 8
  %79 = icmp slt i64 %77, %78
  br i1 %79, label %16, label %15
}

define ptr @tileproof_fast_match(ptr readnone %0, ptr readonly %1, i64 %2) nounwind {
  %4 = alloca [32 x %struct.seen], align 16
  %5 = alloca %struct.launch, align 8
  %6 = alloca [258 x i64], align 16
  %7 = load ptr, ptr @runtime, align 8
  %8 = getelementptr inbounds i8, ptr %7, i64 136
  %9 = load ptr, ptr %8, align 8
  %10 = getelementptr inbounds i8, ptr %7, i64 216
  %11 = load ptr, ptr %10, align 8
  tail call void %9(ptr %11)
  %12 = icmp eq i64 %2, 2
  %13 = load ptr, ptr @runtime, align 8
  br i1 %12, label %14, label %31

14:
  %15 = load ptr, ptr %1, align 8
  %16 = load i64, ptr %13, align 8
  %17 = add nsw i64 %16, -8
  %18 = getelementptr inbounds i8, ptr %15, i64 %17
  %19 = load ptr, ptr %18, align 8
  %20 = getelementptr inbounds i8, ptr %13, i64 72
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %19, %21
  br i1 %22, label %23, label %31

23:
  %24 = getelementptr inbounds i8, ptr %1, i64 8
  %25 = load ptr, ptr %24, align 8
  %26 = getelementptr inbounds i8, ptr %25, i64 %17
  %27 = load ptr, ptr %26, align 8
  %28 = getelementptr inbounds i8, ptr %13, i64 32
  %29 = load ptr, ptr %28, align 8
  %30 = icmp eq ptr %27, %29
  br i1 %30, label %34, label %31

31:
  %32 = getelementptr inbounds i8, ptr %13, i64 216
  %33 = load ptr, ptr %32, align 8
  br label %120

34:
  %35 = call fastcc ptr @match_here(ptr %15, ptr %25, ptr %4, ptr %5, ptr null)
  %36 = icmp eq ptr %35, null
  br i1 %36, label %37, label %41

37:
  %38 = load ptr, ptr @runtime, align 8
  %39 = getelementptr inbounds i8, ptr %38, i64 216
  %40 = load ptr, ptr %39, align 8
  br label %120

41:
  %42 = load ptr, ptr %1, align 8
  %43 = load ptr, ptr @runtime, align 8
  %44 = getelementptr inbounds i8, ptr %43, i64 24
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds i8, ptr %42, i64 %45
  %47 = load ptr, ptr %46, align 8
  %48 = getelementptr inbounds i8, ptr %43, i64 8
  %49 = load i64, ptr %48, align 8
  %50 = getelementptr inbounds i8, ptr %47, i64 %49
  %51 = load ptr, ptr %50, align 8
  %52 = getelementptr inbounds i8, ptr %43, i64 16
  %53 = load i64, ptr %52, align 8
  %54 = getelementptr inbounds i8, ptr %51, i64 %53
  %55 = getelementptr inbounds i8, ptr %54, i64 8
  %56 = load ptr, ptr %55, align 8
  %57 = load i64, ptr %56, align 8
  store i64 %57, ptr %6, align 16
  %58 = getelementptr inbounds i8, ptr %5, i64 2568
  %59 = load i64, ptr %58, align 8
  %60 = getelementptr inbounds i8, ptr %6, i64 8
  store i64 %59, ptr %60, align 8
  %61 = getelementptr inbounds i8, ptr %35, i64 4
  %62 = load i32, ptr %61, align 4
  %63 = icmp sgt i32 %62, 0
  br i1 %63, label %64, label %66

64:
  %65 = zext nneg i32 %62 to i64
  br label %74

66:
  %67 = phi i64 [ 2, %41 ], [ %79, %74 ]
  %68 = getelementptr inbounds i8, ptr %5, i64 2304
  %69 = load i32, ptr %68, align 8
  %70 = icmp sgt i32 %69, 0
  br i1 %70, label %71, label %83

71:
  %72 = getelementptr inbounds i8, ptr %5, i64 1280
  %73 = zext nneg i32 %69 to i64
  br label %91

74:
  %75 = phi i64 [ 0, %64 ], [ %81, %74 ]
  %76 = phi i64 [ 2, %64 ], [ %79, %74 ]
  %77 = getelementptr inbounds i64, ptr %5, i64 %75
  %78 = load i64, ptr %77, align 8
  %79 = add nuw nsw i64 %76, 1
  %80 = getelementptr inbounds i64, ptr %6, i64 %76
  store i64 %78, ptr %80, align 8
  %81 = add nuw nsw i64 %75, 1
  %82 = icmp eq i64 %81, %65
  br i1 %82, label %66, label %74

83:
  %84 = phi i64 [ %67, %66 ], [ %96, %91 ]
  %85 = getelementptr inbounds i8, ptr %35, i64 152
  %86 = load i32, ptr %85, align 8
  %87 = icmp sgt i32 %86, 0
  br i1 %87, label %88, label %100

88:
  %89 = getelementptr inbounds i8, ptr %5, i64 2312
  %90 = zext nneg i32 %86 to i64
  br label %111

91:
  %92 = phi i64 [ 0, %71 ], [ %98, %91 ]
  %93 = phi i64 [ %67, %71 ], [ %96, %91 ]
  %94 = getelementptr inbounds %struct.span, ptr %72, i64 %92
  %95 = getelementptr inbounds i64, ptr %6, i64 %93
  %96 = add nuw nsw i64 %93, 2
  %97 = load <2 x i64>, ptr %94, align 8
  store <2 x i64> %97, ptr %95, align 8
  %98 = add nuw nsw i64 %92, 1
  %99 = icmp eq i64 %98, %73
  br i1 %99, label %83, label %91

100:
  %101 = phi i64 [ %84, %83 ], [ %116, %111 ]
  %102 = getelementptr inbounds i8, ptr %43, i64 144
  %103 = load ptr, ptr %102, align 8
  %104 = getelementptr inbounds i8, ptr %43, i64 216
  %105 = load ptr, ptr %104, align 8
  tail call void %103(ptr %105)
  %106 = load ptr, ptr @runtime, align 8
  %107 = getelementptr inbounds i8, ptr %106, i64 368
  %108 = load ptr, ptr %107, align 8
  %109 = shl nsw i64 %101, 3
  %110 = call ptr %108(ptr %6, i64 %109)
  br label %120

111:
  %112 = phi i64 [ 0, %88 ], [ %118, %111 ]
  %113 = phi i64 [ %84, %88 ], [ %116, %111 ]
  %114 = getelementptr inbounds i64, ptr %89, i64 %112
  %115 = load i64, ptr %114, align 8
  %116 = add nuw nsw i64 %113, 1
  %117 = getelementptr inbounds i64, ptr %6, i64 %113
  store i64 %115, ptr %117, align 8
  %118 = add nuw nsw i64 %112, 1
  %119 = icmp eq i64 %118, %90
  br i1 %119, label %100, label %111

120:
  %121 = phi ptr [ %33, %31 ], [ %110, %100 ], [ %40, %37 ]
  ret ptr %121
}

define internal fastcc ptr @match_here(ptr readonly %0, ptr readonly %1, ptr %2, ptr %3, ptr %4) unnamed_addr nounwind {
  %6 = alloca ptr, align 8
  %7 = alloca i32, align 4
  %8 = alloca ptr, align 8
  %9 = alloca i32, align 4
  %10 = alloca ptr, align 8
  %11 = alloca ptr, align 8
  %12 = load ptr, ptr @runtime, align 8
  %13 = load i64, ptr %12, align 8
  %14 = getelementptr inbounds i8, ptr %1, i64 %13
  %15 = load i64, ptr %14, align 8
  %16 = getelementptr inbounds i8, ptr %12, i64 24
  %17 = load i64, ptr %16, align 8
  %18 = getelementptr inbounds i8, ptr %0, i64 %17
  %19 = load ptr, ptr %18, align 8
  %20 = icmp eq ptr %19, null
  br i1 %20, label %390, label %21

21:
  %22 = add nsw i64 %13, -8
  %23 = getelementptr inbounds i8, ptr %19, i64 %22
  %24 = load ptr, ptr %23, align 8
  %25 = getelementptr inbounds i8, ptr %12, i64 32
  %26 = load ptr, ptr %25, align 8
  %27 = icmp eq ptr %24, %26
  br i1 %27, label %28, label %390

28:
  %29 = getelementptr inbounds i8, ptr %19, i64 %13
  %30 = load i64, ptr %29, align 8
  %31 = icmp eq i64 %30, 0
  br i1 %31, label %390, label %32

32:
  %33 = getelementptr inbounds i8, ptr %12, i64 8
  %34 = load i64, ptr %33, align 8
  %35 = getelementptr inbounds i8, ptr %19, i64 %34
  %36 = load ptr, ptr %35, align 8
  %37 = getelementptr inbounds i8, ptr %36, i64 %22
  %38 = load ptr, ptr %37, align 8
  %39 = getelementptr inbounds i8, ptr %12, i64 40
  %40 = load ptr, ptr %39, align 8
  %41 = icmp eq ptr %38, %40
  %42 = select i1 %41, ptr %19, ptr null
  %43 = icmp eq ptr %42, null
  %44 = icmp sgt i64 %15, 32
  %45 = select i1 %43, i1 true, i1 %44
  br i1 %45, label %390, label %46

46:
  %47 = getelementptr inbounds i8, ptr %12, i64 16
  %48 = load i64, ptr %47, align 8
  %49 = getelementptr inbounds i8, ptr %36, i64 %48
  %50 = icmp eq ptr %4, null
  br i1 %50, label %261, label %51

51:
  %52 = getelementptr inbounds i8, ptr %12, i64 136
  %53 = load ptr, ptr %52, align 8
  tail call void %53(ptr %19)
  %54 = getelementptr inbounds i8, ptr %49, i64 16
  %55 = load i64, ptr %54, align 8
  %56 = getelementptr inbounds i8, ptr %49, i64 24
  %57 = load i64, ptr %56, align 8
  %58 = or i64 %57, %55
  %59 = icmp eq i64 %58, 0
  br i1 %59, label %63, label %60

60:
  %61 = tail call fastcc i32 @is_plain(ptr %49, ptr %1, i64 %15)
  %62 = icmp ne i32 %61, 0
  br label %63

63:
  %64 = phi i1 [ %62, %60 ], [ true, %51 ]
  %65 = icmp sgt i64 %15, 0
  %66 = select i1 %65, i1 %64, i1 false
  br i1 %66, label %69, label %67

67:
  %68 = phi i1 [ %64, %63 ], [ %222, %221 ]
  br i1 %68, label %226, label %386

69:
  %70 = phi i64 [ %223, %221 ], [ 0, %63 ]
  %71 = load ptr, ptr @runtime, align 8
  %72 = getelementptr inbounds i8, ptr %71, i64 8
  %73 = load i64, ptr %72, align 8
  %74 = shl nsw i64 %70, 3
  %75 = getelementptr i8, ptr %1, i64 %73
  %76 = getelementptr i8, ptr %75, i64 %74
  %77 = load ptr, ptr %76, align 8
  %78 = load i64, ptr %71, align 8
  %79 = getelementptr i8, ptr %77, i64 %78
  %80 = getelementptr i8, ptr %79, i64 -8
  %81 = load ptr, ptr %80, align 8
  %82 = getelementptr inbounds i8, ptr %71, i64 432
  %83 = getelementptr inbounds i8, ptr %71, i64 424
  %84 = load i64, ptr %83, align 8
  %85 = icmp sgt i64 %84, 0
  br i1 %85, label %89, label %221

86:
  %87 = add nuw nsw i64 %90, 1
  %88 = icmp eq i64 %87, %84
  br i1 %88, label %221, label %89

89:
  %90 = phi i64 [ %87, %86 ], [ 0, %69 ]
  %91 = getelementptr inbounds %struct.reader, ptr %82, i64 %90
  %92 = load ptr, ptr %91, align 8
  %93 = icmp eq ptr %92, %81
  br i1 %93, label %94, label %86

94:
  %95 = getelementptr inbounds i8, ptr %91, i64 8
  %96 = load i64, ptr %95, align 8
  %97 = icmp eq i64 %96, 1
  br i1 %97, label %98, label %221

98:
  %99 = getelementptr inbounds i8, ptr %71, i64 376
  %100 = load ptr, ptr %99, align 8
  %101 = icmp eq ptr %100, null
  br i1 %101, label %386, label %102

102:
  %103 = getelementptr inbounds %struct.kept, ptr %4, i64 %70
  store ptr %77, ptr %10, align 8
  %104 = getelementptr inbounds i8, ptr %71, i64 120
  %105 = load ptr, ptr %104, align 8
  %106 = call ptr %105(ptr %100, ptr %10, i64 1, ptr null)
  store ptr %106, ptr %103, align 8
  %107 = icmp eq ptr %106, null
  br i1 %107, label %116, label %108

108:
  %109 = load ptr, ptr @runtime, align 8
  %110 = getelementptr inbounds i8, ptr %109, i64 120
  %111 = load ptr, ptr %110, align 8
  %112 = getelementptr inbounds i8, ptr %109, i64 384
  %113 = load ptr, ptr %112, align 8
  %114 = call ptr %111(ptr %113, ptr %103, i64 1, ptr null)
  store ptr %114, ptr %11, align 8
  %115 = icmp eq ptr %114, null
  br i1 %115, label %116, label %120

116:
  %117 = load ptr, ptr @runtime, align 8
  %118 = getelementptr inbounds i8, ptr %117, i64 160
  %119 = load ptr, ptr %118, align 8
  call void %119()
  br label %219

120:
  %121 = load ptr, ptr @runtime, align 8
  %122 = getelementptr inbounds i8, ptr %121, i64 120
  %123 = load ptr, ptr %122, align 8
  %124 = getelementptr inbounds i8, ptr %121, i64 408
  %125 = load ptr, ptr %124, align 8
  %126 = call ptr %123(ptr %125, ptr %11, i64 1, ptr null)
  %127 = icmp eq ptr %126, null
  %128 = load ptr, ptr @runtime, align 8
  br i1 %127, label %129, label %132

129:
  %130 = getelementptr inbounds i8, ptr %128, i64 160
  %131 = load ptr, ptr %130, align 8
  call void %131()
  br label %135

132:
  %133 = getelementptr inbounds i8, ptr %128, i64 144
  %134 = load ptr, ptr %133, align 8
  call void %134(ptr %126)
  br label %135

135:
  %136 = load ptr, ptr @runtime, align 8
  %137 = getelementptr inbounds i8, ptr %136, i64 88
  %138 = load ptr, ptr %137, align 8
  %139 = icmp eq ptr %126, %138
  br i1 %139, label %140, label %208

140:
  %141 = getelementptr inbounds i8, ptr %136, i64 392
  %142 = load ptr, ptr %141, align 8
  %143 = load ptr, ptr %11, align 8
  store ptr %143, ptr %8, align 8
  %144 = getelementptr inbounds i8, ptr %136, i64 120
  %145 = load ptr, ptr %144, align 8
  %146 = call ptr %145(ptr %142, ptr %8, i64 1, ptr null)
  store i32 1, ptr %9, align 4
  %147 = icmp eq ptr %146, null
  %148 = load ptr, ptr @runtime, align 8
  br i1 %147, label %149, label %152

149:
  %150 = getelementptr inbounds i8, ptr %148, i64 160
  %151 = load ptr, ptr %150, align 8
  call void %151()
  br label %208

152:
  %153 = load i64, ptr %148, align 8
  %154 = getelementptr i8, ptr %146, i64 %153
  %155 = getelementptr i8, ptr %154, i64 -8
  %156 = load ptr, ptr %155, align 8
  %157 = getelementptr inbounds i8, ptr %148, i64 48
  %158 = load ptr, ptr %157, align 8
  %159 = icmp eq ptr %156, %158
  br i1 %159, label %160, label %165

160:
  %161 = getelementptr inbounds i8, ptr %148, i64 96
  %162 = load ptr, ptr %161, align 8
  %163 = call i64 %162(ptr %146, ptr %9)
  %164 = load ptr, ptr @runtime, align 8
  br label %165

165:
  %166 = phi i64 [ %163, %160 ], [ 0, %152 ]
  %167 = phi ptr [ %164, %160 ], [ %148, %152 ]
  %168 = getelementptr inbounds i8, ptr %167, i64 144
  %169 = load ptr, ptr %168, align 8
  call void %169(ptr %146)
  %170 = load i32, ptr %9, align 4
  %171 = icmp eq i32 %170, 0
  br i1 %171, label %172, label %208

172:
  %173 = load ptr, ptr @runtime, align 8
  %174 = getelementptr inbounds i8, ptr %173, i64 400
  %175 = load ptr, ptr %174, align 8
  %176 = load ptr, ptr %11, align 8
  store ptr %176, ptr %6, align 8
  %177 = getelementptr inbounds i8, ptr %173, i64 120
  %178 = load ptr, ptr %177, align 8
  %179 = call ptr %178(ptr %175, ptr %6, i64 1, ptr null)
  store i32 1, ptr %7, align 4
  %180 = icmp eq ptr %179, null
  %181 = load ptr, ptr @runtime, align 8
  br i1 %180, label %182, label %185

182:
  %183 = getelementptr inbounds i8, ptr %181, i64 160
  %184 = load ptr, ptr %183, align 8
  call void %184()
  br label %205

185:
  %186 = load i64, ptr %181, align 8
  %187 = getelementptr i8, ptr %179, i64 %186
  %188 = getelementptr i8, ptr %187, i64 -8
  %189 = load ptr, ptr %188, align 8
  %190 = getelementptr inbounds i8, ptr %181, i64 48
  %191 = load ptr, ptr %190, align 8
  %192 = icmp eq ptr %189, %191
  br i1 %192, label %193, label %198

193:
  %194 = getelementptr inbounds i8, ptr %181, i64 96
  %195 = load ptr, ptr %194, align 8
  %196 = call i64 %195(ptr %179, ptr %7)
  %197 = load ptr, ptr @runtime, align 8
  br label %198

198:
  %199 = phi i64 [ %196, %193 ], [ 0, %185 ]
  %200 = phi ptr [ %197, %193 ], [ %181, %185 ]
  %201 = getelementptr inbounds i8, ptr %200, i64 144
  %202 = load ptr, ptr %201, align 8
  call void %202(ptr %179)
  %203 = load i32, ptr %7, align 4
  %204 = icmp eq i32 %203, 0
  br label %205

205:
  %206 = phi i64 [ 0, %182 ], [ %199, %198 ]
  %207 = phi i1 [ false, %182 ], [ %204, %198 ]
  br label %208

208:
  %209 = phi i64 [ 0, %135 ], [ %166, %165 ], [ %166, %205 ], [ 0, %149 ]
  %210 = phi i64 [ 0, %135 ], [ 0, %165 ], [ %206, %205 ], [ 0, %149 ]
  %211 = phi i1 [ false, %135 ], [ false, %165 ], [ %207, %205 ], [ false, %149 ]
  %212 = load ptr, ptr @runtime, align 8
  %213 = getelementptr inbounds i8, ptr %212, i64 144
  %214 = load ptr, ptr %213, align 8
  %215 = load ptr, ptr %11, align 8
  call void %214(ptr %215)
  %216 = getelementptr inbounds i8, ptr %103, i64 8
  store i64 %209, ptr %216, align 8
  %217 = add i64 %210, %209
  %218 = getelementptr inbounds i8, ptr %103, i64 16
  store i64 %217, ptr %218, align 8
  br label %219

219:
  %220 = phi i1 [ %211, %208 ], [ false, %116 ]
  br label %221

221:
  %222 = phi i1 [ true, %94 ], [ true, %69 ], [ %220, %219 ], [ true, %86 ]
  %223 = add nuw nsw i64 %70, 1
  %224 = icmp slt i64 %223, %15
  %225 = select i1 %224, i1 %222, i1 false
  br i1 %225, label %69, label %67

226:
  %227 = load ptr, ptr @runtime, align 8
  %228 = getelementptr inbounds i8, ptr %227, i64 24
  %229 = load i64, ptr %228, align 8
  %230 = getelementptr inbounds i8, ptr %0, i64 %229
  %231 = load ptr, ptr %230, align 8
  %232 = icmp eq ptr %231, null
  br i1 %232, label %256, label %233

233:
  %234 = load i64, ptr %227, align 8
  %235 = add nsw i64 %234, -8
  %236 = getelementptr inbounds i8, ptr %231, i64 %235
  %237 = load ptr, ptr %236, align 8
  %238 = getelementptr inbounds i8, ptr %227, i64 32
  %239 = load ptr, ptr %238, align 8
  %240 = icmp eq ptr %237, %239
  br i1 %240, label %241, label %256

241:
  %242 = getelementptr inbounds i8, ptr %231, i64 %234
  %243 = load i64, ptr %242, align 8
  %244 = icmp eq i64 %243, 0
  br i1 %244, label %256, label %245

245:
  %246 = getelementptr inbounds i8, ptr %227, i64 8
  %247 = load i64, ptr %246, align 8
  %248 = getelementptr inbounds i8, ptr %231, i64 %247
  %249 = load ptr, ptr %248, align 8
  %250 = getelementptr inbounds i8, ptr %249, i64 %235
  %251 = load ptr, ptr %250, align 8
  %252 = getelementptr inbounds i8, ptr %227, i64 40
  %253 = load ptr, ptr %252, align 8
  %254 = icmp eq ptr %251, %253
  %255 = select i1 %254, ptr %231, ptr null
  br label %256

256:
  %257 = phi ptr [ %255, %245 ], [ null, %241 ], [ null, %233 ], [ null, %226 ]
  %258 = icmp eq ptr %257, %42
  %259 = getelementptr inbounds i8, ptr %227, i64 144
  %260 = load ptr, ptr %259, align 8
  call void %260(ptr %42)
  br i1 %258, label %261, label %390

261:
  %262 = icmp sgt i64 %15, 0
  br i1 %262, label %263, label %353

263:
  %264 = phi i64 [ %351, %350 ], [ 0, %261 ]
  br i1 %50, label %269, label %265

265:
  %266 = getelementptr inbounds %struct.kept, ptr %4, i64 %264
  %267 = load ptr, ptr %266, align 8
  %268 = icmp eq ptr %267, null
  br i1 %268, label %269, label %276

269:
  %270 = load ptr, ptr @runtime, align 8
  %271 = getelementptr inbounds i8, ptr %270, i64 8
  %272 = load i64, ptr %271, align 8
  %273 = shl nsw i64 %264, 3
  %274 = getelementptr i8, ptr %1, i64 %272
  %275 = getelementptr i8, ptr %274, i64 %273
  br label %276

276:
  %277 = phi i1 [ false, %269 ], [ true, %265 ]
  %278 = phi ptr [ %275, %269 ], [ %266, %265 ]
  %279 = load ptr, ptr %278, align 8
  %280 = getelementptr inbounds %struct.seen, ptr %2, i64 %264
  %281 = call fastcc i32 @read(ptr %279, ptr %280)
  %282 = icmp eq i32 %281, 0
  br i1 %282, label %390, label %283

283:
  br i1 %277, label %284, label %350

284:
  %285 = getelementptr inbounds %struct.kept, ptr %4, i64 %264
  %286 = getelementptr inbounds i8, ptr %280, i64 32
  %287 = load i64, ptr %286, align 8
  %288 = lshr i64 %287, 11
  %289 = and i64 %288, 31
  %290 = getelementptr inbounds i8, ptr %280, i64 16
  %291 = load i32, ptr %290, align 8
  %292 = icmp sgt i32 %291, 0
  br i1 %292, label %293, label %336

293:
  %294 = getelementptr inbounds i8, ptr %280, i64 48
  %295 = load ptr, ptr %294, align 8
  %296 = getelementptr inbounds i8, ptr %280, i64 56
  %297 = icmp ne i64 %289, 0
  %298 = zext nneg i32 %291 to i64
  br label %302

299:
  %300 = add nuw nsw i64 %303, 1
  %301 = icmp eq i64 %300, %298
  br i1 %301, label %336, label %302

302:
  %303 = phi i64 [ 0, %293 ], [ %300, %299 ]
  %304 = phi i64 [ %289, %293 ], [ %334, %299 ]
  %305 = getelementptr inbounds i64, ptr %295, i64 %303
  %306 = load i64, ptr %305, align 8
  %307 = icmp eq i64 %306, 0
  br i1 %307, label %350, label %308

308:
  %309 = load ptr, ptr %296, align 8
  %310 = getelementptr inbounds i64, ptr %309, i64 %303
  %311 = load i64, ptr %310, align 8
  %312 = call i64 @llvm.abs.i64(i64 %311, i1 true)
  %313 = icmp samesign ugt i64 %312, 2147483647
  %314 = and i1 %297, %313
  br i1 %314, label %315, label %318

315:
  %316 = udiv i64 4611686018427387904, %289
  %317 = icmp samesign ugt i64 %312, %316
  br i1 %317, label %390, label %318

318:
  %319 = mul nsw i64 %311, %289
  %320 = add nsw i64 %306, -1
  %321 = call i64 @llvm.abs.i64(i64 %319, i1 true)
  %322 = call i64 @llvm.abs.i64(i64 %320, i1 true)
  %323 = or i64 %321, %322
  %324 = icmp samesign ugt i64 %323, 2147483647
  %325 = icmp ne i64 %320, 0
  %326 = and i1 %325, %324
  br i1 %326, label %327, label %330

327:
  %328 = udiv i64 4611686018427387904, %322
  %329 = icmp samesign ugt i64 %321, %328
  br i1 %329, label %390, label %330

330:
  %331 = mul nsw i64 %319, %320
  %332 = icmp slt i64 %331, 0
  br i1 %332, label %390, label %333

333:
  %334 = add nuw nsw i64 %331, %304
  %335 = icmp ult i64 %334, 4611686018427387904
  br i1 %335, label %299, label %390

336:
  %337 = phi i64 [ %289, %284 ], [ %334, %299 ]
  %338 = getelementptr inbounds i8, ptr %280, i64 40
  %339 = load i64, ptr %338, align 8
  %340 = getelementptr inbounds i8, ptr %285, i64 8
  %341 = load i64, ptr %340, align 8
  %342 = icmp ult i64 %339, %341
  br i1 %342, label %390, label %343

343:
  %344 = getelementptr inbounds i8, ptr %285, i64 16
  %345 = load i64, ptr %344, align 8
  %346 = sub i64 %345, %339
  %347 = icmp ugt i64 %337, %346
  %348 = icmp ugt i64 %339, %345
  %349 = or i1 %348, %347
  br i1 %349, label %390, label %350

350:
  %351 = add nuw nsw i64 %264, 1
  %352 = icmp eq i64 %351, %15
  br i1 %352, label %353, label %263

353:
  %354 = getelementptr inbounds i8, ptr %49, i64 8
  %355 = load ptr, ptr %354, align 8
  %356 = load i64, ptr %355, align 8
  %357 = getelementptr inbounds i8, ptr %49, i64 40
  %358 = getelementptr inbounds ptr, ptr %357, i64 %356
  %359 = load ptr, ptr %358, align 8
  %360 = call fastcc i32 @fits(ptr %359, ptr %2, i64 %15, ptr %3)
  %361 = icmp eq i32 %360, 0
  br i1 %361, label %362, label %365

362:
  %363 = load i64, ptr %49, align 8
  %364 = icmp sgt i64 %363, 0
  br i1 %364, label %367, label %390

365:
  %366 = load ptr, ptr %358, align 8
  br label %390

367:
  %368 = phi i64 [ %383, %382 ], [ %363, %362 ]
  %369 = phi i64 [ %384, %382 ], [ 0, %362 ]
  %370 = icmp eq i64 %369, %356
  br i1 %370, label %382, label %371

371:
  %372 = getelementptr inbounds ptr, ptr %357, i64 %369
  %373 = load ptr, ptr %372, align 8
  %374 = call fastcc i32 @fits(ptr %373, ptr %2, i64 %15, ptr %3)
  %375 = icmp eq i32 %374, 0
  br i1 %375, label %376, label %378

376:
  %377 = load i64, ptr %49, align 8
  br label %382

378:
  %379 = getelementptr inbounds ptr, ptr %357, i64 %369
  %380 = load ptr, ptr %354, align 8
  store i64 %369, ptr %380, align 8
  %381 = load ptr, ptr %379, align 8
  br label %390

382:
  %383 = phi i64 [ %377, %376 ], [ %368, %367 ]
  %384 = add nuw nsw i64 %369, 1
  %385 = icmp slt i64 %384, %383
  br i1 %385, label %367, label %390

386:
  %387 = load ptr, ptr @runtime, align 8
  %388 = getelementptr inbounds i8, ptr %387, i64 144
  %389 = load ptr, ptr %388, align 8
  call void %389(ptr %42)
  br label %390

390:
  %391 = phi ptr [ null, %32 ], [ null, %256 ], [ %381, %378 ], [ %366, %365 ], [ null, %386 ], [ null, %333 ], [ null, %5 ], [ null, %362 ], [ null, %28 ], [ null, %21 ], [ null, %382 ], [ null, %327 ], [ null, %330 ], [ null, %315 ], [ null, %276 ], [ null, %343 ], [ null, %336 ]
  ret ptr %391
}

define ptr @tileproof_fast_launch(ptr readnone %0, ptr readonly %1, i64 %2) nounwind {
  %4 = alloca %struct.chosen, align 8
  %5 = alloca i32, align 4
  store i64 -1, ptr %4, align 8
  %6 = getelementptr inbounds i8, ptr %4, i64 8
  store ptr null, ptr %6, align 8
  %7 = getelementptr inbounds i8, ptr %4, i64 16
  %8 = icmp eq i64 %2, 2
  %9 = zext i1 %8 to i32
  store i32 %9, ptr %7, align 8
  %10 = getelementptr inbounds i8, ptr %4, i64 20
  store i32 %9, ptr %10, align 4
  store i32 0, ptr %5, align 4
  switch i64 %2, label %11 [
    i64 5, label %13
    i64 2, label %13
  ]

11:
  %12 = load ptr, ptr @runtime, align 8
  br label %31

13:
  %14 = load ptr, ptr %1, align 8
  %15 = load ptr, ptr @runtime, align 8
  %16 = load i64, ptr %15, align 8
  %17 = add nsw i64 %16, -8
  %18 = getelementptr inbounds i8, ptr %14, i64 %17
  %19 = load ptr, ptr %18, align 8
  %20 = getelementptr inbounds i8, ptr %15, i64 72
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %19, %21
  br i1 %22, label %23, label %31

23:
  %24 = getelementptr inbounds i8, ptr %1, i64 8
  %25 = load ptr, ptr %24, align 8
  %26 = getelementptr inbounds i8, ptr %25, i64 %17
  %27 = load ptr, ptr %26, align 8
  %28 = getelementptr inbounds i8, ptr %15, i64 32
  %29 = load ptr, ptr %28, align 8
  %30 = icmp eq ptr %27, %29
  br i1 %30, label %36, label %31

31:
  %32 = phi ptr [ %12, %11 ], [ %15, %23 ], [ %15, %13 ]
  %33 = getelementptr inbounds i8, ptr %32, i64 112
  %34 = load ptr, ptr %33, align 8
  %35 = tail call ptr %34(i64 0)
  br label %109

36:
  %37 = icmp eq i64 %2, 5
  br i1 %37, label %38, label %90

38:
  %39 = getelementptr inbounds i8, ptr %1, i64 16
  %40 = load ptr, ptr %39, align 8
  %41 = getelementptr inbounds i8, ptr %40, i64 %17
  %42 = load ptr, ptr %41, align 8
  %43 = getelementptr inbounds i8, ptr %15, i64 48
  %44 = load ptr, ptr %43, align 8
  %45 = icmp eq ptr %42, %44
  br i1 %45, label %46, label %52

46:
  %47 = getelementptr inbounds i8, ptr %1, i64 24
  %48 = load ptr, ptr %47, align 8
  %49 = getelementptr inbounds i8, ptr %48, i64 %17
  %50 = load ptr, ptr %49, align 8
  %51 = icmp eq ptr %50, %42
  br i1 %51, label %56, label %52

52:
  %53 = getelementptr inbounds i8, ptr %15, i64 112
  %54 = load ptr, ptr %53, align 8
  %55 = tail call ptr %54(i64 0)
  br label %109

56:
  %57 = getelementptr inbounds i8, ptr %15, i64 96
  %58 = load ptr, ptr %57, align 8
  %59 = call i64 %58(ptr %40, ptr %5)
  store i64 %59, ptr %4, align 8
  %60 = load i32, ptr %5, align 4
  %61 = icmp eq i32 %60, 0
  %62 = load ptr, ptr @runtime, align 8
  br i1 %61, label %67, label %63

63:
  %64 = getelementptr inbounds i8, ptr %62, i64 112
  %65 = load ptr, ptr %64, align 8
  %66 = call ptr %65(i64 0)
  br label %109

67:
  %68 = getelementptr inbounds i8, ptr %62, i64 96
  %69 = load ptr, ptr %68, align 8
  %70 = load ptr, ptr %47, align 8
  %71 = call i64 %69(ptr %70, ptr %5)
  %72 = inttoptr i64 %71 to ptr
  store ptr %72, ptr %6, align 8
  %73 = load i32, ptr %5, align 4
  %74 = icmp eq i32 %73, 0
  br i1 %74, label %80, label %75

75:
  %76 = load ptr, ptr @runtime, align 8
  %77 = getelementptr inbounds i8, ptr %76, i64 112
  %78 = load ptr, ptr %77, align 8
  %79 = call ptr %78(i64 0)
  br label %109

80:
  %81 = getelementptr inbounds i8, ptr %1, i64 32
  %82 = load ptr, ptr %81, align 8
  %83 = load ptr, ptr @runtime, align 8
  %84 = getelementptr inbounds i8, ptr %83, i64 80
  %85 = load ptr, ptr %84, align 8
  %86 = icmp eq ptr %82, %85
  %87 = zext i1 %86 to i32
  store i32 %87, ptr %10, align 4
  %88 = load ptr, ptr %1, align 8
  %89 = load ptr, ptr %24, align 8
  br label %90

90:
  %91 = phi ptr [ %89, %80 ], [ %25, %36 ]
  %92 = phi ptr [ %88, %80 ], [ %14, %36 ]
  %93 = call fastcc i32 @go(ptr %92, ptr %91, ptr %4)
  switch i32 %93, label %94 [
    i32 4, label %109
    i32 2, label %100
  ]

94:
  %95 = load ptr, ptr @runtime, align 8
  %96 = getelementptr inbounds i8, ptr %95, i64 112
  %97 = load ptr, ptr %96, align 8
  %98 = zext nneg i32 %93 to i64
  %99 = call ptr %97(i64 %98)
  br label %109

100:
  %101 = load ptr, ptr @runtime, align 8
  %102 = getelementptr inbounds i8, ptr %101, i64 136
  %103 = load ptr, ptr %102, align 8
  %104 = getelementptr inbounds i8, ptr %101, i64 216
  %105 = load ptr, ptr %104, align 8
  call void %103(ptr %105)
  %106 = load ptr, ptr @runtime, align 8
  %107 = getelementptr inbounds i8, ptr %106, i64 216
  %108 = load ptr, ptr %107, align 8
  br label %109

109:
  %110 = phi ptr [ %35, %31 ], [ %55, %52 ], [ %66, %63 ], [ %79, %75 ], [ %108, %100 ], [ %99, %94 ], [ null, %90 ]
  ret ptr %110
}

define internal fastcc range(i32 0, 5) i32 @go(ptr readonly %0, ptr %1, ptr readonly %2) unnamed_addr nounwind {
  %4 = alloca [32 x %struct.seen], align 16
  %5 = alloca %struct.launch, align 8
  %6 = alloca ptr, align 8
  %7 = getelementptr inbounds i8, ptr %2, i64 20
  br label %8

8:
  %9 = phi i32 [ 0, %3 ], [ %193, %189 ]
  %10 = load ptr, ptr @runtime, align 8
  %11 = getelementptr inbounds i8, ptr %10, i64 24
  %12 = load i64, ptr %11, align 8
  %13 = getelementptr inbounds i8, ptr %0, i64 %12
  %14 = load ptr, ptr %13, align 8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %165, label %16

16:
  %17 = load i64, ptr %10, align 8
  %18 = add nsw i64 %17, -8
  %19 = getelementptr inbounds i8, ptr %14, i64 %18
  %20 = load ptr, ptr %19, align 8
  %21 = getelementptr inbounds i8, ptr %10, i64 32
  %22 = load ptr, ptr %21, align 8
  %23 = icmp eq ptr %20, %22
  br i1 %23, label %24, label %165

24:
  %25 = getelementptr inbounds i8, ptr %14, i64 %17
  %26 = load i64, ptr %25, align 8
  %27 = icmp eq i64 %26, 0
  br i1 %27, label %165, label %28

28:
  %29 = getelementptr inbounds i8, ptr %10, i64 8
  %30 = load i64, ptr %29, align 8
  %31 = getelementptr inbounds i8, ptr %14, i64 %30
  %32 = load ptr, ptr %31, align 8
  %33 = getelementptr inbounds i8, ptr %32, i64 %18
  %34 = load ptr, ptr %33, align 8
  %35 = getelementptr inbounds i8, ptr %10, i64 40
  %36 = load ptr, ptr %35, align 8
  %37 = icmp eq ptr %34, %36
  %38 = select i1 %37, ptr %14, ptr null
  %39 = getelementptr inbounds i8, ptr %1, i64 %17
  %40 = load i64, ptr %39, align 8
  %41 = icmp eq ptr %38, null
  %42 = icmp sgt i64 %40, 32
  %43 = select i1 %41, i1 true, i1 %42
  br i1 %43, label %165, label %44

44:
  %45 = getelementptr inbounds i8, ptr %10, i64 16
  %46 = load i64, ptr %45, align 8
  %47 = getelementptr inbounds i8, ptr %32, i64 %46
  %48 = getelementptr inbounds i8, ptr %47, i64 16
  %49 = load i64, ptr %48, align 8
  %50 = getelementptr inbounds i8, ptr %47, i64 24
  %51 = load i64, ptr %50, align 8
  %52 = or i64 %51, %49
  %53 = icmp eq i64 %52, 0
  br i1 %53, label %94, label %54

54:
  %55 = getelementptr inbounds i8, ptr %10, i64 136
  %56 = load ptr, ptr %55, align 8
  call void %56(ptr %14)
  %57 = call fastcc i32 @is_plain(ptr %47, ptr %1, i64 %40)
  %58 = icmp eq i32 %57, 0
  %59 = load ptr, ptr @runtime, align 8
  br i1 %58, label %162, label %60

60:
  %61 = getelementptr inbounds i8, ptr %59, i64 24
  %62 = load i64, ptr %61, align 8
  %63 = getelementptr inbounds i8, ptr %0, i64 %62
  %64 = load ptr, ptr %63, align 8
  %65 = icmp eq ptr %64, null
  br i1 %65, label %89, label %66

66:
  %67 = load i64, ptr %59, align 8
  %68 = add nsw i64 %67, -8
  %69 = getelementptr inbounds i8, ptr %64, i64 %68
  %70 = load ptr, ptr %69, align 8
  %71 = getelementptr inbounds i8, ptr %59, i64 32
  %72 = load ptr, ptr %71, align 8
  %73 = icmp eq ptr %70, %72
  br i1 %73, label %74, label %89

74:
  %75 = getelementptr inbounds i8, ptr %64, i64 %67
  %76 = load i64, ptr %75, align 8
  %77 = icmp eq i64 %76, 0
  br i1 %77, label %89, label %78

78:
  %79 = getelementptr inbounds i8, ptr %59, i64 8
  %80 = load i64, ptr %79, align 8
  %81 = getelementptr inbounds i8, ptr %64, i64 %80
  %82 = load ptr, ptr %81, align 8
  %83 = getelementptr inbounds i8, ptr %82, i64 %68
  %84 = load ptr, ptr %83, align 8
  %85 = getelementptr inbounds i8, ptr %59, i64 40
  %86 = load ptr, ptr %85, align 8
  %87 = icmp eq ptr %84, %86
  %88 = select i1 %87, ptr %64, ptr null
  br label %89

89:
  %90 = phi ptr [ %88, %78 ], [ null, %74 ], [ null, %66 ], [ null, %60 ]
  %91 = icmp eq ptr %90, %38
  %92 = getelementptr inbounds i8, ptr %59, i64 144
  %93 = load ptr, ptr %92, align 8
  call void %93(ptr %14)
  br i1 %91, label %94, label %165

94:
  %95 = icmp sgt i64 %40, 0
  br i1 %95, label %102, label %134

96:
  %97 = add nuw nsw i64 %103, 1
  %98 = icmp eq i64 %97, %40
  br i1 %98, label %99, label %102

99:
  %100 = load i32, ptr %7, align 4
  %101 = icmp eq i32 %100, 0
  br i1 %101, label %114, label %134

102:
  %103 = phi i64 [ %97, %96 ], [ 0, %94 ]
  %104 = load ptr, ptr @runtime, align 8
  %105 = getelementptr inbounds i8, ptr %104, i64 8
  %106 = load i64, ptr %105, align 8
  %107 = shl nsw i64 %103, 3
  %108 = getelementptr i8, ptr %1, i64 %106
  %109 = getelementptr i8, ptr %108, i64 %107
  %110 = load ptr, ptr %109, align 8
  %111 = getelementptr inbounds %struct.seen, ptr %4, i64 %103
  %112 = call fastcc i32 @read(ptr %110, ptr %111)
  %113 = icmp eq i32 %112, 0
  br i1 %113, label %165, label %96

114:
  %115 = phi i64 [ %132, %131 ], [ 0, %99 ]
  %116 = getelementptr inbounds %struct.seen, ptr %4, i64 %115
  %117 = load i32, ptr %116, align 16
  %118 = icmp eq i32 %117, 4
  br i1 %118, label %119, label %131

119:
  %120 = getelementptr inbounds i8, ptr %116, i64 4
  %121 = load i32, ptr %120, align 4
  %122 = icmp eq i32 %121, 1
  br i1 %122, label %165, label %123

123:
  %124 = getelementptr inbounds i8, ptr %116, i64 80
  %125 = load ptr, ptr %124, align 16
  %126 = icmp eq ptr %125, null
  br i1 %126, label %131, label %127

127:
  %128 = getelementptr inbounds i8, ptr %125, i64 28
  %129 = load i32, ptr %128, align 4
  %130 = icmp eq i32 %129, 0
  br i1 %130, label %131, label %165

131:
  %132 = add nuw nsw i64 %115, 1
  %133 = icmp eq i64 %132, %40
  br i1 %133, label %134, label %114

134:
  %135 = getelementptr inbounds i8, ptr %47, i64 8
  %136 = load ptr, ptr %135, align 8
  %137 = load i64, ptr %136, align 8
  %138 = getelementptr inbounds i8, ptr %47, i64 32
  %139 = load i64, ptr %138, align 8
  %140 = icmp eq i64 %139, 0
  br i1 %140, label %141, label %165

141:
  %142 = getelementptr inbounds i8, ptr %47, i64 40
  %143 = getelementptr inbounds ptr, ptr %142, i64 %137
  %144 = load ptr, ptr %143, align 8
  %145 = call fastcc i32 @fits(ptr %144, ptr %4, i64 %40, ptr %5)
  %146 = icmp eq i32 %145, 0
  br i1 %146, label %147, label %166

147:
  %148 = load i64, ptr %47, align 8
  %149 = icmp sgt i64 %148, 0
  br i1 %149, label %150, label %165

150:
  %151 = phi i64 [ %160, %159 ], [ 0, %147 ]
  %152 = icmp eq i64 %151, %137
  br i1 %152, label %159, label %153

153:
  %154 = getelementptr inbounds ptr, ptr %142, i64 %151
  %155 = load ptr, ptr %154, align 8
  %156 = call fastcc i32 @fits(ptr %155, ptr %4, i64 %40, ptr %5)
  %157 = icmp eq i32 %156, 0
  br i1 %157, label %159, label %158

158:
  store i64 %151, ptr %136, align 8
  br label %166

159:
  %160 = add nuw nsw i64 %151, 1
  %161 = icmp eq i64 %160, %148
  br i1 %161, label %165, label %150

162:
  %163 = getelementptr inbounds i8, ptr %59, i64 144
  %164 = load ptr, ptr %163, align 8
  call void %164(ptr %14)
  br label %165

165:
  br label %187

166:
  %167 = phi ptr [ %155, %158 ], [ %144, %141 ]
  %168 = call fastcc i32 @start(ptr %167, ptr %14, ptr %1, ptr %5, ptr readonly %2, ptr %6)
  %169 = icmp eq i32 %168, 3
  br i1 %169, label %170, label %187

170:
  %171 = load ptr, ptr %6, align 8
  %172 = getelementptr inbounds i8, ptr %171, i64 8
  %173 = load i64, ptr %172, align 8
  %174 = load ptr, ptr @runtime, align 8
  %175 = getelementptr inbounds i8, ptr %174, i64 168
  %176 = load ptr, ptr %175, align 8
  %177 = call ptr %176()
  br label %178

178:
  %179 = phi i32 [ 0, %170 ], [ %184, %178 ]
  %180 = load ptr, ptr %6, align 8
  %181 = getelementptr inbounds i8, ptr %180, i64 16
  %182 = load atomic i64, ptr %181 acquire, align 8
  %183 = icmp ne i64 %182, %173
  %184 = add nuw nsw i32 %179, 1
  %185 = icmp samesign ult i32 %179, 19999
  %186 = select i1 %183, i1 %185, i1 false
  br i1 %186, label %178, label %189

187:
  %188 = phi i32 [ 0, %165 ], [ %168, %166 ]
  br label %195

189:
  %190 = load ptr, ptr @runtime, align 8
  %191 = getelementptr inbounds i8, ptr %190, i64 176
  %192 = load ptr, ptr %191, align 8
  call void %192(ptr %177)
  %193 = add nuw nsw i32 %9, 1
  %194 = icmp eq i32 %193, 8
  br i1 %194, label %195, label %8

195:
  %196 = phi i32 [ %188, %187 ], [ 2, %189 ]
  ret i32 %196
}

define ptr @tileproof_fast_follow(ptr readonly %0, ptr readonly %1, i64 %2) nounwind {
  %4 = alloca i32, align 4
  %5 = alloca i32, align 4
  %6 = alloca ptr, align 8
  %7 = alloca [32 x %struct.seen], align 16
  %8 = alloca [32 x %struct.kept], align 16
  %9 = alloca %struct.launch, align 8
  %10 = alloca ptr, align 8
  %11 = alloca ptr, align 8
  %12 = alloca ptr, align 8
  %13 = alloca i64, align 8
  %14 = alloca i32, align 4
  %15 = alloca i32, align 4
  %16 = alloca %struct.chosen, align 8
  %17 = icmp eq i64 %2, 2
  %18 = load ptr, ptr @runtime, align 8
  br i1 %17, label %19, label %36

19:
  %20 = load ptr, ptr %1, align 8
  %21 = load i64, ptr %18, align 8
  %22 = add nsw i64 %21, -8
  %23 = getelementptr inbounds i8, ptr %20, i64 %22
  %24 = load ptr, ptr %23, align 8
  %25 = getelementptr inbounds i8, ptr %18, i64 32
  %26 = load ptr, ptr %25, align 8
  %27 = icmp eq ptr %24, %26
  br i1 %27, label %28, label %36

28:
  %29 = getelementptr inbounds i8, ptr %1, i64 8
  %30 = load ptr, ptr %29, align 8
  %31 = getelementptr inbounds i8, ptr %30, i64 %22
  %32 = load ptr, ptr %31, align 8
  %33 = getelementptr inbounds i8, ptr %18, i64 64
  %34 = load ptr, ptr %33, align 8
  %35 = icmp eq ptr %32, %34
  br i1 %35, label %40, label %36

36:
  %37 = getelementptr inbounds i8, ptr %18, i64 112
  %38 = load ptr, ptr %37, align 8
  %39 = tail call ptr %38(i64 0)
  br label %604

40:
  %41 = getelementptr inbounds i8, ptr %0, i64 %21
  %42 = load i64, ptr %41, align 8
  %43 = getelementptr inbounds i8, ptr %18, i64 8
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr inbounds i8, ptr %0, i64 %44
  %46 = load ptr, ptr %45, align 8
  store i64 0, ptr %13, align 8
  br label %47

47:
  %48 = phi i32 [ 0, %40 ], [ %54, %47 ]
  %49 = load ptr, ptr @runtime, align 8
  %50 = getelementptr inbounds i8, ptr %49, i64 248
  %51 = load ptr, ptr %50, align 8
  %52 = call i32 %51(ptr %46, ptr %13, ptr %11, ptr %12)
  %53 = icmp eq i32 %52, 0
  %54 = add nuw nsw i32 %48, 1
  br i1 %53, label %55, label %47

55:
  store i64 0, ptr %13, align 8
  %56 = load ptr, ptr @runtime, align 8
  %57 = getelementptr inbounds i8, ptr %56, i64 248
  %58 = load ptr, ptr %57, align 8
  %59 = call i32 %58(ptr %30, ptr %13, ptr %11, ptr %12)
  %60 = icmp eq i32 %59, 0
  br i1 %60, label %103, label %61

61:
  %62 = phi i32 [ %96, %95 ], [ %48, %55 ]
  %63 = load ptr, ptr %11, align 8
  %64 = load ptr, ptr @runtime, align 8
  %65 = getelementptr inbounds i8, ptr %64, i64 240
  %66 = load ptr, ptr %65, align 8
  %67 = call ptr %66(ptr %46, ptr %63)
  %68 = icmp eq ptr %67, null
  br i1 %68, label %69, label %73

69:
  %70 = load ptr, ptr @runtime, align 8
  %71 = getelementptr inbounds i8, ptr %70, i64 160
  %72 = load ptr, ptr %71, align 8
  call void %72()
  br label %102

73:
  %74 = load ptr, ptr %12, align 8
  %75 = load ptr, ptr @runtime, align 8
  %76 = load i64, ptr %75, align 8
  %77 = getelementptr i8, ptr %74, i64 %76
  %78 = getelementptr i8, ptr %77, i64 -8
  %79 = load ptr, ptr %78, align 8
  %80 = getelementptr inbounds i8, ptr %75, i64 48
  %81 = load ptr, ptr %80, align 8
  %82 = icmp eq ptr %79, %81
  br i1 %82, label %83, label %102

83:
  %84 = getelementptr inbounds i8, ptr %75, i64 96
  %85 = load ptr, ptr %84, align 8
  %86 = call i64 %85(ptr %74, ptr %14)
  %87 = load ptr, ptr @runtime, align 8
  %88 = getelementptr inbounds i8, ptr %87, i64 96
  %89 = load ptr, ptr %88, align 8
  %90 = call i64 %89(ptr %67, ptr %15)
  %91 = icmp ne i64 %86, %90
  %92 = load i32, ptr %14, align 4
  %93 = icmp ne i32 %92, 0
  %94 = select i1 %91, i1 true, i1 %93
  br i1 %94, label %102, label %95

95:
  %96 = add nsw i32 %62, -1
  %97 = load ptr, ptr @runtime, align 8
  %98 = getelementptr inbounds i8, ptr %97, i64 248
  %99 = load ptr, ptr %98, align 8
  %100 = call i32 %99(ptr %30, ptr %13, ptr %11, ptr %12)
  %101 = icmp eq i32 %100, 0
  br i1 %101, label %103, label %61

102:
  br label %593

103:
  %104 = phi i32 [ %48, %55 ], [ %96, %95 ]
  %105 = icmp eq i32 %104, 0
  br i1 %105, label %106, label %593

106:
  %107 = load ptr, ptr @runtime, align 8
  br label %111

108:
  %109 = add nuw nsw i64 %113, 1
  %110 = icmp eq i64 %109, 4
  br i1 %110, label %137, label %111

111:
  %112 = phi ptr [ %107, %106 ], [ %133, %108 ]
  %113 = phi i64 [ 0, %106 ], [ %109, %108 ]
  %114 = getelementptr inbounds i8, ptr %112, i64 256
  %115 = getelementptr inbounds ptr, ptr %114, i64 %113
  %116 = load ptr, ptr %115, align 8
  %117 = icmp eq ptr %116, null
  br i1 %117, label %137, label %118

118:
  store ptr null, ptr %10, align 8
  %119 = getelementptr inbounds i8, ptr %112, i64 232
  %120 = load ptr, ptr %119, align 8
  %121 = load ptr, ptr %115, align 8
  %122 = call i32 %120(ptr %121, ptr null, ptr %10)
  %123 = icmp eq i32 %122, 0
  %124 = load ptr, ptr @runtime, align 8
  br i1 %123, label %128, label %125

125:
  %126 = getelementptr inbounds i8, ptr %124, i64 160
  %127 = load ptr, ptr %126, align 8
  call void %127()
  br label %593

128:
  %129 = getelementptr inbounds i8, ptr %124, i64 144
  %130 = load ptr, ptr %129, align 8
  %131 = load ptr, ptr %10, align 8
  call void %130(ptr %131)
  %132 = load ptr, ptr %10, align 8
  %133 = load ptr, ptr @runtime, align 8
  %134 = getelementptr inbounds i8, ptr %133, i64 216
  %135 = load ptr, ptr %134, align 8
  %136 = icmp eq ptr %132, %135
  br i1 %136, label %108, label %593

137:
  %138 = phi ptr [ %133, %108 ], [ %112, %111 ]
  %139 = getelementptr inbounds i8, ptr %138, i64 288
  %140 = load ptr, ptr %139, align 8
  %141 = getelementptr inbounds i8, ptr %138, i64 296
  %142 = load ptr, ptr %141, align 8
  %143 = getelementptr inbounds i8, ptr %138, i64 240
  %144 = load ptr, ptr %143, align 8
  %145 = call ptr %144(ptr %140, ptr %142)
  %146 = icmp eq ptr %145, null
  br i1 %146, label %147, label %593

147:
  %148 = load ptr, ptr @runtime, align 8
  %149 = getelementptr inbounds i8, ptr %148, i64 160
  %150 = load ptr, ptr %149, align 8
  call void %150()
  %151 = icmp sgt i64 %42, 3
  br i1 %151, label %152, label %593

152:
  %153 = getelementptr inbounds i8, ptr %9, i64 2576
  %154 = getelementptr inbounds i8, ptr %9, i64 2308
  %155 = getelementptr inbounds i8, ptr %9, i64 2048
  %156 = getelementptr inbounds i8, ptr %9, i64 2568
  %157 = getelementptr inbounds i8, ptr %16, i64 16
  %158 = getelementptr inbounds i8, ptr %16, i64 20
  %159 = getelementptr inbounds i8, ptr %16, i64 8
  br label %160

160:
  %161 = phi i64 [ 3, %152 ], [ %586, %583 ]
  %162 = phi i32 [ 0, %152 ], [ %584, %583 ]
  %163 = phi i64 [ 1, %152 ], [ %585, %583 ]
  %164 = load ptr, ptr @runtime, align 8
  %165 = getelementptr inbounds i8, ptr %164, i64 8
  %166 = load i64, ptr %165, align 8
  %167 = shl nsw i64 %161, 3
  %168 = getelementptr i8, ptr %0, i64 %166
  %169 = getelementptr i8, ptr %168, i64 %167
  %170 = load ptr, ptr %169, align 8
  %171 = shl nsw i64 %163, 3
  %172 = getelementptr i8, ptr %168, i64 %171
  %173 = load ptr, ptr %172, align 8
  %174 = getelementptr i8, ptr %172, i64 8
  %175 = load ptr, ptr %174, align 8
  %176 = load i64, ptr %164, align 8
  %177 = getelementptr inbounds i8, ptr %173, i64 %176
  %178 = load i64, ptr %177, align 8
  %179 = icmp sgt i64 %178, 2
  br i1 %179, label %184, label %216

180:
  %181 = add nuw nsw i64 %188, 3
  %182 = add nuw nsw i64 %188, 5
  %183 = icmp slt i64 %182, %178
  br i1 %183, label %184, label %216

184:
  %185 = phi i64 [ %206, %180 ], [ %166, %160 ]
  %186 = phi ptr [ %204, %180 ], [ %164, %160 ]
  %187 = phi i64 [ %182, %180 ], [ 2, %160 ]
  %188 = phi i64 [ %181, %180 ], [ 0, %160 ]
  %189 = shl nsw i64 %188, 3
  %190 = getelementptr i8, ptr %173, i64 %185
  %191 = getelementptr i8, ptr %190, i64 %189
  %192 = load ptr, ptr %191, align 8
  %193 = getelementptr i8, ptr %191, i64 8
  %194 = load ptr, ptr %193, align 8
  %195 = getelementptr inbounds i8, ptr %186, i64 240
  %196 = load ptr, ptr %195, align 8
  %197 = call ptr %196(ptr %192, ptr %194)
  %198 = icmp eq ptr %197, null
  br i1 %198, label %199, label %203

199:
  %200 = load ptr, ptr @runtime, align 8
  %201 = getelementptr inbounds i8, ptr %200, i64 160
  %202 = load ptr, ptr %201, align 8
  call void %202()
  br label %203

203:
  %204 = load ptr, ptr @runtime, align 8
  %205 = getelementptr inbounds i8, ptr %204, i64 8
  %206 = load i64, ptr %205, align 8
  %207 = shl nsw i64 %187, 3
  %208 = getelementptr i8, ptr %173, i64 %206
  %209 = getelementptr i8, ptr %208, i64 %207
  %210 = load ptr, ptr %209, align 8
  %211 = getelementptr inbounds i8, ptr %204, i64 224
  %212 = load ptr, ptr %211, align 8
  %213 = icmp eq ptr %210, %212
  %214 = select i1 %213, ptr null, ptr %210
  %215 = icmp eq ptr %197, %214
  br i1 %215, label %180, label %583

216:
  %217 = phi ptr [ %164, %160 ], [ %204, %180 ]
  %218 = getelementptr inbounds i8, ptr %217, i64 216
  %219 = load ptr, ptr %218, align 8
  %220 = icmp eq ptr %175, %219
  br i1 %220, label %238, label %221

221:
  %222 = getelementptr inbounds i8, ptr %217, i64 120
  %223 = load ptr, ptr %222, align 8
  %224 = call ptr %223(ptr %175, ptr null, i64 0, ptr null)
  %225 = icmp eq ptr %224, null
  %226 = load ptr, ptr @runtime, align 8
  br i1 %225, label %227, label %230

227:
  %228 = getelementptr inbounds i8, ptr %226, i64 160
  %229 = load ptr, ptr %228, align 8
  call void %229()
  br label %233

230:
  %231 = getelementptr inbounds i8, ptr %226, i64 144
  %232 = load ptr, ptr %231, align 8
  call void %232(ptr %224)
  br label %233

233:
  %234 = load ptr, ptr @runtime, align 8
  %235 = getelementptr inbounds i8, ptr %234, i64 80
  %236 = load ptr, ptr %235, align 8
  %237 = icmp eq ptr %224, %236
  br i1 %237, label %238, label %583

238:
  %239 = phi ptr [ %217, %216 ], [ %234, %233 ]
  %240 = getelementptr inbounds i8, ptr %239, i64 24
  %241 = load i64, ptr %240, align 8
  %242 = getelementptr inbounds i8, ptr %170, i64 %241
  %243 = load ptr, ptr %242, align 8
  %244 = icmp eq ptr %243, null
  br i1 %244, label %583, label %245

245:
  %246 = load i64, ptr %239, align 8
  %247 = add nsw i64 %246, -8
  %248 = getelementptr inbounds i8, ptr %243, i64 %247
  %249 = load ptr, ptr %248, align 8
  %250 = getelementptr inbounds i8, ptr %239, i64 32
  %251 = load ptr, ptr %250, align 8
  %252 = icmp eq ptr %249, %251
  br i1 %252, label %253, label %583

253:
  %254 = getelementptr inbounds i8, ptr %243, i64 %246
  %255 = load i64, ptr %254, align 8
  %256 = icmp eq i64 %255, 0
  br i1 %256, label %583, label %257

257:
  %258 = getelementptr inbounds i8, ptr %239, i64 8
  %259 = load i64, ptr %258, align 8
  %260 = getelementptr inbounds i8, ptr %243, i64 %259
  %261 = load ptr, ptr %260, align 8
  %262 = getelementptr inbounds i8, ptr %261, i64 %247
  %263 = load ptr, ptr %262, align 8
  %264 = getelementptr inbounds i8, ptr %239, i64 40
  %265 = load ptr, ptr %264, align 8
  %266 = icmp eq ptr %263, %265
  br i1 %266, label %267, label %583

267:
  %268 = getelementptr inbounds i8, ptr %239, i64 16
  %269 = load i64, ptr %268, align 8
  %270 = getelementptr inbounds i8, ptr %261, i64 %269
  %271 = getelementptr inbounds i8, ptr %270, i64 32
  %272 = load i64, ptr %271, align 8
  %273 = icmp eq i64 %272, 0
  br i1 %273, label %431, label %274

274:
  %275 = getelementptr inbounds i8, ptr %239, i64 288
  %276 = load ptr, ptr %275, align 8
  %277 = getelementptr inbounds i8, ptr %239, i64 304
  %278 = load ptr, ptr %277, align 8
  %279 = getelementptr inbounds i8, ptr %239, i64 240
  %280 = load ptr, ptr %279, align 8
  %281 = call ptr %280(ptr %276, ptr %278)
  %282 = icmp eq ptr %281, null
  br i1 %282, label %283, label %583

283:
  %284 = load ptr, ptr @runtime, align 8
  %285 = getelementptr inbounds i8, ptr %284, i64 160
  %286 = load ptr, ptr %285, align 8
  call void %286()
  %287 = load ptr, ptr @runtime, align 8
  %288 = load i64, ptr %287, align 8
  %289 = getelementptr inbounds i8, ptr %20, i64 %288
  %290 = load i64, ptr %289, align 8
  %291 = icmp sgt i64 %290, 32
  br i1 %291, label %429, label %292

292:
  %293 = getelementptr inbounds i8, ptr %287, i64 416
  %294 = load ptr, ptr %293, align 8
  %295 = icmp eq ptr %294, null
  br i1 %295, label %429, label %296

296:
  %297 = load i64, ptr %294, align 8
  %298 = getelementptr inbounds i8, ptr %294, i64 8
  %299 = load i64, ptr %298, align 8
  %300 = or i64 %299, %297
  %301 = getelementptr inbounds i8, ptr %294, i64 16
  %302 = load i64, ptr %301, align 8
  %303 = or i64 %300, %302
  %304 = icmp eq i64 %303, 0
  br i1 %304, label %305, label %429

305:
  %306 = getelementptr inbounds i8, ptr %294, i64 32
  %307 = getelementptr inbounds i8, ptr %294, i64 24
  %308 = load i64, ptr %307, align 8
  %309 = icmp slt i64 %308, 1
  br i1 %309, label %323, label %314

310:
  %311 = add nuw nsw i64 %315, 1
  %312 = load i64, ptr %307, align 8
  %313 = icmp slt i64 %311, %312
  br i1 %313, label %314, label %323

314:
  %315 = phi i64 [ %311, %310 ], [ 0, %305 ]
  %316 = getelementptr inbounds ptr, ptr %306, i64 %315
  %317 = load ptr, ptr %316, align 8
  %318 = load atomic i64, ptr %317 acquire, align 8
  %319 = load ptr, ptr %316, align 8
  %320 = getelementptr inbounds i8, ptr %319, i64 128
  %321 = load atomic i64, ptr %320 acquire, align 8
  %322 = icmp slt i64 %318, %321
  br i1 %322, label %429, label %310

323:
  %324 = icmp sgt i64 %290, 0
  br i1 %324, label %328, label %325

325:
  %326 = call fastcc ptr @match_here(ptr readonly %170, ptr readonly %20, ptr %7, ptr %9, ptr %8)
  %327 = icmp eq ptr %326, null
  br i1 %327, label %415, label %333

328:
  %329 = phi i64 [ %331, %328 ], [ 0, %323 ]
  %330 = getelementptr inbounds %struct.kept, ptr %8, i64 %329
  store ptr null, ptr %330, align 8
  %331 = add nuw nsw i64 %329, 1
  %332 = icmp eq i64 %331, %290
  br i1 %332, label %325, label %328

333:
  %334 = getelementptr inbounds i8, ptr %326, i64 132
  %335 = load i32, ptr %334, align 4
  %336 = icmp eq i32 %335, 0
  %337 = load i64, ptr %153, align 8
  %338 = icmp ugt i64 %337, 65536
  %339 = select i1 %336, i1 true, i1 %338
  br i1 %339, label %415, label %340

340:
  %341 = load ptr, ptr @runtime, align 8
  %342 = getelementptr inbounds i8, ptr %341, i64 416
  %343 = load ptr, ptr %342, align 8
  %344 = icmp eq ptr %343, null
  br i1 %344, label %415, label %345

345:
  %346 = load i64, ptr %343, align 8
  %347 = getelementptr inbounds i8, ptr %343, i64 8
  %348 = load i64, ptr %347, align 8
  %349 = or i64 %348, %346
  %350 = getelementptr inbounds i8, ptr %343, i64 16
  %351 = load i64, ptr %350, align 8
  %352 = or i64 %349, %351
  %353 = icmp eq i64 %352, 0
  br i1 %353, label %354, label %415

354:
  %355 = getelementptr inbounds i8, ptr %343, i64 32
  %356 = getelementptr inbounds i8, ptr %343, i64 24
  %357 = load i64, ptr %356, align 8
  %358 = icmp slt i64 %357, 1
  br i1 %358, label %372, label %363

359:
  %360 = add nuw nsw i64 %364, 1
  %361 = load i64, ptr %356, align 8
  %362 = icmp slt i64 %360, %361
  br i1 %362, label %363, label %372

363:
  %364 = phi i64 [ %360, %359 ], [ 0, %354 ]
  %365 = getelementptr inbounds ptr, ptr %355, i64 %364
  %366 = load ptr, ptr %365, align 8
  %367 = load atomic i64, ptr %366 acquire, align 8
  %368 = load ptr, ptr %365, align 8
  %369 = getelementptr inbounds i8, ptr %368, i64 128
  %370 = load atomic i64, ptr %369 acquire, align 8
  %371 = icmp slt i64 %367, %370
  br i1 %371, label %415, label %359

372:
  %373 = load i32, ptr %154, align 4
  %374 = icmp sgt i32 %373, 0
  br i1 %374, label %375, label %377

375:
  %376 = zext nneg i32 %373 to i64
  br label %389

377:
  %378 = getelementptr inbounds i8, ptr %326, i64 144
  %379 = load i32, ptr %378, align 8
  %380 = sext i32 %379 to i64
  %381 = getelementptr inbounds i64, ptr %9, i64 %380
  %382 = ptrtoint ptr %381 to i64
  %383 = getelementptr inbounds i8, ptr %326, i64 148
  %384 = load i32, ptr %383, align 4
  %385 = sext i32 %384 to i64
  %386 = getelementptr inbounds i64, ptr %9, i64 %385
  store i64 %382, ptr %386, align 8
  %387 = load i64, ptr %156, align 8
  %388 = icmp sgt i64 %387, 0
  br i1 %388, label %397, label %403

389:
  %390 = phi i64 [ 0, %375 ], [ %395, %389 ]
  %391 = getelementptr inbounds ptr, ptr %155, i64 %390
  %392 = load ptr, ptr %391, align 8
  %393 = load i64, ptr %392, align 8
  %394 = add nsw i64 %393, 1
  store i64 %394, ptr %392, align 8
  %395 = add nuw nsw i64 %390, 1
  %396 = icmp eq i64 %395, %376
  br i1 %396, label %377, label %389

397:
  %398 = getelementptr inbounds i8, ptr %326, i64 56
  %399 = load ptr, ptr %398, align 8
  %400 = getelementptr inbounds i8, ptr %326, i64 200
  %401 = load ptr, ptr %400, align 8
  call void %399(ptr %386, ptr %401, i64 0, i64 %387)
  %402 = load i32, ptr %154, align 4
  br label %403

403:
  %404 = phi i32 [ %402, %397 ], [ %373, %377 ]
  %405 = icmp sgt i32 %404, 0
  br i1 %405, label %406, label %415

406:
  %407 = zext nneg i32 %404 to i64
  br label %408

408:
  %409 = phi i64 [ 0, %406 ], [ %413, %408 ]
  %410 = getelementptr inbounds ptr, ptr %155, i64 %409
  %411 = load ptr, ptr %410, align 8
  %412 = getelementptr inbounds i8, ptr %411, i64 24
  store i32 0, ptr %412, align 8
  %413 = add nuw nsw i64 %409, 1
  %414 = icmp eq i64 %413, %407
  br i1 %414, label %415, label %408

415:
  %416 = phi i1 [ true, %325 ], [ true, %333 ], [ false, %403 ], [ false, %408 ], [ true, %345 ], [ true, %340 ], [ true, %363 ]
  br i1 %324, label %417, label %430

417:
  %418 = phi i64 [ %427, %426 ], [ 0, %415 ]
  %419 = getelementptr inbounds %struct.kept, ptr %8, i64 %418
  %420 = load ptr, ptr %419, align 8
  %421 = icmp eq ptr %420, null
  br i1 %421, label %426, label %422

422:
  %423 = load ptr, ptr @runtime, align 8
  %424 = getelementptr inbounds i8, ptr %423, i64 144
  %425 = load ptr, ptr %424, align 8
  call void %425(ptr %420)
  br label %426

426:
  %427 = add nuw nsw i64 %418, 1
  %428 = icmp eq i64 %427, %290
  br i1 %428, label %430, label %417

429:
  br label %583

430:
  br i1 %416, label %583, label %593

431:
  %432 = icmp eq i32 %162, 0
  br i1 %432, label %433, label %581

433:
  %434 = getelementptr inbounds i8, ptr %239, i64 312
  %435 = load ptr, ptr %434, align 8
  %436 = getelementptr inbounds i8, ptr %239, i64 320
  %437 = load ptr, ptr %436, align 8
  %438 = getelementptr inbounds i8, ptr %239, i64 240
  %439 = load ptr, ptr %438, align 8
  %440 = call ptr %439(ptr %435, ptr %437)
  %441 = icmp eq ptr %440, null
  br i1 %441, label %448, label %442

442:
  store ptr null, ptr %6, align 8
  %443 = load ptr, ptr @runtime, align 8
  %444 = getelementptr inbounds i8, ptr %443, i64 352
  %445 = load ptr, ptr %444, align 8
  %446 = icmp eq ptr %440, %445
  %447 = zext i1 %446 to i32
  store i32 %447, ptr %157, align 8
  br i1 %446, label %466, label %577

448:
  %449 = load ptr, ptr @runtime, align 8
  %450 = getelementptr inbounds i8, ptr %449, i64 160
  %451 = load ptr, ptr %450, align 8
  call void %451()
  store ptr null, ptr %6, align 8
  store i32 0, ptr %157, align 8
  %452 = load ptr, ptr @runtime, align 8
  %453 = getelementptr inbounds i8, ptr %452, i64 312
  %454 = load ptr, ptr %453, align 8
  %455 = getelementptr inbounds i8, ptr %452, i64 328
  %456 = load ptr, ptr %455, align 8
  %457 = getelementptr inbounds i8, ptr %452, i64 240
  %458 = load ptr, ptr %457, align 8
  %459 = call ptr %458(ptr %454, ptr %456)
  %460 = icmp eq ptr %459, null
  br i1 %460, label %461, label %577

461:
  %462 = load ptr, ptr @runtime, align 8
  %463 = getelementptr inbounds i8, ptr %462, i64 160
  %464 = load ptr, ptr %463, align 8
  call void %464()
  %465 = load ptr, ptr @runtime, align 8
  br label %466

466:
  %467 = phi ptr [ %465, %461 ], [ %443, %442 ]
  %468 = getelementptr inbounds i8, ptr %467, i64 232
  %469 = load ptr, ptr %468, align 8
  %470 = getelementptr inbounds i8, ptr %467, i64 360
  %471 = load ptr, ptr %470, align 8
  %472 = call i32 %469(ptr %471, ptr null, ptr %6)
  %473 = icmp eq i32 %472, 0
  br i1 %473, label %478, label %474

474:
  %475 = load ptr, ptr @runtime, align 8
  %476 = getelementptr inbounds i8, ptr %475, i64 160
  %477 = load ptr, ptr %476, align 8
  call void %477()
  br label %577

478:
  %479 = load ptr, ptr %6, align 8
  %480 = load ptr, ptr @runtime, align 8
  %481 = load i64, ptr %480, align 8
  %482 = getelementptr i8, ptr %479, i64 %481
  %483 = getelementptr i8, ptr %482, i64 -8
  %484 = load ptr, ptr %483, align 8
  %485 = getelementptr inbounds i8, ptr %480, i64 32
  %486 = load ptr, ptr %485, align 8
  %487 = icmp eq ptr %484, %486
  br i1 %487, label %489, label %488

488:
  store i32 0, ptr %158, align 4
  store i64 -1, ptr %16, align 8
  br label %502

489:
  %490 = load i64, ptr %482, align 8
  %491 = icmp eq i64 %490, 0
  %492 = zext i1 %491 to i32
  store i32 %492, ptr %158, align 4
  store i64 -1, ptr %16, align 8
  br i1 %491, label %578, label %493

493:
  %494 = icmp sgt i64 %490, 0
  br i1 %494, label %495, label %502

495:
  %496 = getelementptr inbounds i8, ptr %480, i64 8
  %497 = load i64, ptr %496, align 8
  %498 = shl i64 %490, 3
  %499 = getelementptr i8, ptr %479, i64 %497
  %500 = getelementptr i8, ptr %499, i64 %498
  %501 = getelementptr i8, ptr %500, i64 -8
  br label %504

502:
  %503 = getelementptr inbounds i8, ptr %480, i64 216
  br label %504

504:
  %505 = phi ptr [ %501, %495 ], [ %503, %502 ]
  %506 = load ptr, ptr %505, align 8
  %507 = getelementptr inbounds i8, ptr %480, i64 336
  %508 = load ptr, ptr %507, align 8
  %509 = getelementptr inbounds i8, ptr %480, i64 128
  %510 = load ptr, ptr %509, align 8
  %511 = call ptr %510(ptr %506, ptr %508)
  store i32 1, ptr %5, align 4
  %512 = icmp eq ptr %511, null
  %513 = load ptr, ptr @runtime, align 8
  br i1 %512, label %514, label %517

514:
  %515 = getelementptr inbounds i8, ptr %513, i64 160
  %516 = load ptr, ptr %515, align 8
  call void %516()
  br label %588

517:
  %518 = load i64, ptr %513, align 8
  %519 = getelementptr i8, ptr %511, i64 %518
  %520 = getelementptr i8, ptr %519, i64 -8
  %521 = load ptr, ptr %520, align 8
  %522 = getelementptr inbounds i8, ptr %513, i64 48
  %523 = load ptr, ptr %522, align 8
  %524 = icmp eq ptr %521, %523
  br i1 %524, label %525, label %530

525:
  %526 = getelementptr inbounds i8, ptr %513, i64 96
  %527 = load ptr, ptr %526, align 8
  %528 = call i64 %527(ptr %511, ptr %5)
  store i64 %528, ptr %16, align 8
  %529 = load ptr, ptr @runtime, align 8
  br label %530

530:
  %531 = phi ptr [ %529, %525 ], [ %513, %517 ]
  %532 = getelementptr inbounds i8, ptr %531, i64 144
  %533 = load ptr, ptr %532, align 8
  call void %533(ptr %511)
  %534 = load i32, ptr %5, align 4
  %535 = icmp eq i32 %534, 0
  br i1 %535, label %536, label %588

536:
  %537 = load ptr, ptr @runtime, align 8
  %538 = getelementptr inbounds i8, ptr %537, i64 344
  %539 = load ptr, ptr %538, align 8
  %540 = getelementptr inbounds i8, ptr %537, i64 128
  %541 = load ptr, ptr %540, align 8
  %542 = call ptr %541(ptr %506, ptr %539)
  store i32 1, ptr %4, align 4
  %543 = icmp eq ptr %542, null
  %544 = load ptr, ptr @runtime, align 8
  br i1 %543, label %545, label %552

545:
  %546 = getelementptr inbounds i8, ptr %544, i64 160
  %547 = load ptr, ptr %546, align 8
  call void %547()
  %548 = load ptr, ptr @runtime, align 8
  %549 = getelementptr inbounds i8, ptr %548, i64 144
  %550 = load ptr, ptr %549, align 8
  %551 = load ptr, ptr %6, align 8
  call void %550(ptr %551)
  br label %593

552:
  %553 = load i64, ptr %544, align 8
  %554 = getelementptr i8, ptr %542, i64 %553
  %555 = getelementptr i8, ptr %554, i64 -8
  %556 = load ptr, ptr %555, align 8
  %557 = getelementptr inbounds i8, ptr %544, i64 48
  %558 = load ptr, ptr %557, align 8
  %559 = icmp eq ptr %556, %558
  br i1 %559, label %560, label %566

560:
  %561 = getelementptr inbounds i8, ptr %544, i64 96
  %562 = load ptr, ptr %561, align 8
  %563 = call i64 %562(ptr %542, ptr %4)
  %564 = load ptr, ptr @runtime, align 8
  %565 = inttoptr i64 %563 to ptr
  br label %566

566:
  %567 = phi ptr [ %565, %560 ], [ null, %552 ]
  %568 = phi ptr [ %564, %560 ], [ %544, %552 ]
  %569 = getelementptr inbounds i8, ptr %568, i64 144
  %570 = load ptr, ptr %569, align 8
  call void %570(ptr %542)
  %571 = load i32, ptr %4, align 4
  %572 = icmp eq i32 %571, 0
  store ptr %567, ptr %159, align 8
  %573 = load ptr, ptr @runtime, align 8
  %574 = getelementptr inbounds i8, ptr %573, i64 144
  %575 = load ptr, ptr %574, align 8
  %576 = load ptr, ptr %6, align 8
  call void %575(ptr %576)
  br i1 %572, label %581, label %593

577:
  br label %593

578:
  store ptr null, ptr %159, align 8
  %579 = getelementptr inbounds i8, ptr %480, i64 144
  %580 = load ptr, ptr %579, align 8
  call void %580(ptr %479)
  br label %581

581:
  %582 = call fastcc i32 @go(ptr %170, ptr %20, ptr %16)
  switch i32 %582, label %595 [
    i32 0, label %583
    i32 2, label %593
  ]

583:
  %584 = phi i32 [ %162, %430 ], [ %162, %233 ], [ 1, %581 ], [ %162, %238 ], [ %162, %257 ], [ %162, %253 ], [ %162, %245 ], [ %162, %429 ], [ %162, %274 ], [ %162, %203 ]
  %585 = add nuw nsw i64 %163, 3
  %586 = add nuw nsw i64 %163, 5
  %587 = icmp slt i64 %586, %42
  br i1 %587, label %160, label %593

588:
  %589 = load ptr, ptr @runtime, align 8
  %590 = getelementptr inbounds i8, ptr %589, i64 144
  %591 = load ptr, ptr %590, align 8
  %592 = load ptr, ptr %6, align 8
  call void %591(ptr %592)
  br label %593

593:
  %594 = phi i32 [ 0, %103 ], [ 1, %430 ], [ 0, %102 ], [ 0, %137 ], [ 0, %147 ], [ 0, %588 ], [ 0, %545 ], [ 0, %577 ], [ 0, %125 ], [ 0, %581 ], [ 0, %583 ], [ 0, %566 ], [ 0, %128 ]
  br label %597

595:
  %596 = icmp eq i32 %582, 4
  br i1 %596, label %604, label %597

597:
  %598 = phi i32 [ %594, %593 ], [ %582, %595 ]
  %599 = load ptr, ptr @runtime, align 8
  %600 = getelementptr inbounds i8, ptr %599, i64 112
  %601 = load ptr, ptr %600, align 8
  %602 = zext nneg i32 %598 to i64
  %603 = call ptr %601(i64 %602)
  br label %604

604:
  %605 = phi ptr [ %39, %36 ], [ null, %595 ], [ %603, %597 ]
  ret ptr %605
}

define range(i32 0, 2) i32 @tileproof_fast_read(ptr %0, ptr initializes((4, 8)) %1) nounwind {
  %3 = tail call fastcc i32 @read(ptr %0, ptr %1)
  ret i32 %3
}

define internal fastcc range(i32 0, 2) i32 @read(ptr %0, ptr initializes((4, 8)) %1) unnamed_addr nounwind {
  %3 = alloca %struct.dlpack_tensor, align 8
  %4 = alloca i32, align 4
  %5 = load ptr, ptr @runtime, align 8
  %6 = load i64, ptr %5, align 8
  %7 = getelementptr i8, ptr %0, i64 %6
  %8 = getelementptr i8, ptr %7, i64 -8
  %9 = load ptr, ptr %8, align 8
  store i32 0, ptr %4, align 4
  %10 = getelementptr inbounds i8, ptr %1, i64 4
  store i32 -1, ptr %10, align 4
  %11 = getelementptr inbounds i8, ptr %5, i64 48
  %12 = load ptr, ptr %11, align 8
  %13 = icmp eq ptr %9, %12
  br i1 %13, label %14, label %22

14:
  store i32 1, ptr %1, align 8
  %15 = getelementptr inbounds i8, ptr %5, i64 96
  %16 = load ptr, ptr %15, align 8
  %17 = call i64 %16(ptr %0, ptr %4)
  %18 = getelementptr inbounds i8, ptr %1, i64 64
  store i64 %17, ptr %18, align 8
  %19 = load i32, ptr %4, align 4
  %20 = icmp eq i32 %19, 0
  %21 = zext i1 %20 to i32
  br label %191

22:
  %23 = getelementptr inbounds i8, ptr %5, i64 56
  %24 = load ptr, ptr %23, align 8
  %25 = icmp eq ptr %9, %24
  br i1 %25, label %26, label %31

26:
  store i32 2, ptr %1, align 8
  %27 = getelementptr inbounds i8, ptr %5, i64 104
  %28 = load ptr, ptr %27, align 8
  %29 = tail call double %28(ptr %0)
  %30 = getelementptr inbounds i8, ptr %1, i64 72
  store double %29, ptr %30, align 8
  br label %191

31:
  %32 = getelementptr inbounds i8, ptr %5, i64 80
  %33 = load ptr, ptr %32, align 8
  %34 = icmp eq ptr %0, %33
  br i1 %34, label %39, label %35

35:
  %36 = getelementptr inbounds i8, ptr %5, i64 88
  %37 = load ptr, ptr %36, align 8
  %38 = icmp eq ptr %0, %37
  br i1 %38, label %39, label %42

39:
  store i32 3, ptr %1, align 8
  %40 = zext i1 %34 to i64
  %41 = getelementptr inbounds i8, ptr %1, i64 64
  store i64 %40, ptr %41, align 8
  br label %191

42:
  %43 = getelementptr inbounds i8, ptr %5, i64 432
  %44 = getelementptr inbounds i8, ptr %5, i64 424
  %45 = load i64, ptr %44, align 8
  %46 = icmp sgt i64 %45, 0
  br i1 %46, label %50, label %191

47:
  %48 = add nuw nsw i64 %51, 1
  %49 = icmp eq i64 %48, %45
  br i1 %49, label %191, label %50

50:
  %51 = phi i64 [ %48, %47 ], [ 0, %42 ]
  %52 = getelementptr inbounds %struct.reader, ptr %43, i64 %51
  %53 = load ptr, ptr %52, align 8
  %54 = icmp eq ptr %53, %9
  br i1 %54, label %55, label %47

55:
  store i32 4, ptr %1, align 8
  %56 = getelementptr inbounds i8, ptr %52, i64 8
  %57 = load i64, ptr %56, align 8
  %58 = trunc i64 %57 to i32
  store i32 %58, ptr %10, align 4
  switch i64 %57, label %191 [
    i64 0, label %59
    i64 1, label %84
    i64 2, label %136
  ]

59:
  %60 = getelementptr inbounds i8, ptr %1, i64 8
  store i32 1, ptr %60, align 8
  %61 = getelementptr inbounds i8, ptr %1, i64 12
  store i32 0, ptr %61, align 4
  %62 = load i64, ptr %7, align 8
  %63 = getelementptr inbounds i8, ptr %1, i64 40
  store i64 %62, ptr %63, align 8
  %64 = getelementptr i8, ptr %7, i64 8
  %65 = load i32, ptr %64, align 8
  %66 = getelementptr inbounds i8, ptr %1, i64 16
  store i32 %65, ptr %66, align 8
  %67 = getelementptr i8, ptr %7, i64 16
  %68 = load ptr, ptr %67, align 8
  %69 = getelementptr inbounds i8, ptr %1, i64 48
  store ptr %68, ptr %69, align 8
  %70 = getelementptr i8, ptr %7, i64 24
  %71 = load ptr, ptr %70, align 8
  %72 = getelementptr inbounds i8, ptr %1, i64 56
  store ptr %71, ptr %72, align 8
  %73 = getelementptr i8, ptr %7, i64 40
  %74 = load i64, ptr %73, align 8
  %75 = getelementptr inbounds i8, ptr %1, i64 32
  store i64 %74, ptr %75, align 8
  %76 = getelementptr i8, ptr %7, i64 48
  %77 = load i32, ptr %76, align 8
  %78 = lshr i32 %77, 10
  %79 = and i32 %78, 1
  %80 = getelementptr inbounds i8, ptr %1, i64 24
  store i32 %79, ptr %80, align 8
  %81 = getelementptr inbounds i8, ptr %1, i64 20
  store i32 0, ptr %81, align 4
  %82 = getelementptr inbounds i8, ptr %1, i64 80
  store ptr null, ptr %82, align 8
  %83 = getelementptr inbounds i8, ptr %1, i64 88
  store i64 0, ptr %83, align 8
  br label %191

84:
  %85 = getelementptr inbounds i8, ptr %3, i64 16
  store i32 0, ptr %85, align 8
  %86 = getelementptr inbounds i8, ptr %52, i64 16
  %87 = load ptr, ptr %86, align 8
  %88 = call i32 %87(ptr %0, ptr %3)
  %89 = icmp eq i32 %88, 0
  br i1 %89, label %94, label %90

90:
  %91 = load ptr, ptr @runtime, align 8
  %92 = getelementptr inbounds i8, ptr %91, i64 160
  %93 = load ptr, ptr %92, align 8
  call void %93()
  br label %134

94:
  %95 = load i32, ptr %85, align 8
  %96 = icmp sgt i32 %95, 0
  %97 = getelementptr inbounds i8, ptr %3, i64 24
  %98 = load ptr, ptr %97, align 8
  br i1 %96, label %102, label %99

99:
  %100 = getelementptr inbounds i8, ptr %3, i64 32
  %101 = load ptr, ptr %100, align 8
  br label %108

102:
  %103 = icmp ne ptr %98, null
  %104 = getelementptr inbounds i8, ptr %3, i64 32
  %105 = load ptr, ptr %104, align 8
  %106 = icmp ne ptr %105, null
  %107 = select i1 %103, i1 %106, i1 false
  br i1 %107, label %108, label %134

108:
  %109 = phi ptr [ %101, %99 ], [ %105, %102 ]
  %110 = getelementptr inbounds i8, ptr %3, i64 8
  %111 = getelementptr inbounds i8, ptr %1, i64 8
  %112 = load <2 x i32>, ptr %110, align 8
  store <2 x i32> %112, ptr %111, align 8
  %113 = load ptr, ptr %3, align 8
  %114 = ptrtoint ptr %113 to i64
  %115 = getelementptr inbounds i8, ptr %3, i64 40
  %116 = load i64, ptr %115, align 8
  %117 = add i64 %116, %114
  %118 = getelementptr inbounds i8, ptr %1, i64 40
  store i64 %117, ptr %118, align 8
  %119 = getelementptr inbounds i8, ptr %1, i64 16
  store i32 %95, ptr %119, align 8
  %120 = getelementptr inbounds i8, ptr %1, i64 48
  store ptr %98, ptr %120, align 8
  %121 = getelementptr inbounds i8, ptr %1, i64 56
  store ptr %109, ptr %121, align 8
  %122 = getelementptr inbounds i8, ptr %3, i64 20
  %123 = load i32, ptr %122, align 4
  %124 = zext i32 %123 to i64
  %125 = getelementptr inbounds i8, ptr %1, i64 32
  store i64 %124, ptr %125, align 8
  %126 = getelementptr inbounds i8, ptr %1, i64 24
  store i32 1, ptr %126, align 8
  %127 = getelementptr inbounds i8, ptr %1, i64 20
  store i32 1, ptr %127, align 4
  %128 = getelementptr inbounds i8, ptr %1, i64 80
  store ptr null, ptr %128, align 8
  %129 = getelementptr inbounds i8, ptr %1, i64 88
  store i64 0, ptr %129, align 8
  %130 = icmp ne ptr %113, null
  %131 = icmp eq i64 %116, 0
  %132 = select i1 %130, i1 true, i1 %131
  %133 = zext i1 %132 to i32
  br label %134

134:
  %135 = phi i32 [ 0, %90 ], [ %133, %108 ], [ 0, %102 ]
  br label %191

136:
  %137 = getelementptr inbounds i8, ptr %52, i64 24
  %138 = load i64, ptr %137, align 8
  %139 = getelementptr inbounds i8, ptr %0, i64 %138
  %140 = load ptr, ptr %139, align 8
  %141 = icmp eq ptr %140, null
  br i1 %141, label %191, label %142

142:
  %143 = getelementptr i8, ptr %140, i64 %6
  %144 = getelementptr i8, ptr %143, i64 -8
  %145 = load ptr, ptr %144, align 8
  %146 = getelementptr inbounds i8, ptr %5, i64 40
  %147 = load ptr, ptr %146, align 8
  %148 = icmp eq ptr %145, %147
  br i1 %148, label %149, label %191

149:
  %150 = getelementptr inbounds i8, ptr %5, i64 16
  %151 = load i64, ptr %150, align 8
  %152 = getelementptr inbounds i8, ptr %140, i64 %151
  %153 = getelementptr inbounds i8, ptr %152, i64 8
  %154 = load i32, ptr %153, align 8
  %155 = getelementptr inbounds i8, ptr %1, i64 8
  store i32 %154, ptr %155, align 8
  %156 = getelementptr inbounds i8, ptr %152, i64 12
  %157 = load i32, ptr %156, align 4
  %158 = getelementptr inbounds i8, ptr %1, i64 12
  store i32 %157, ptr %158, align 4
  %159 = load i64, ptr %152, align 8
  %160 = getelementptr inbounds i8, ptr %1, i64 40
  store i64 %159, ptr %160, align 8
  %161 = getelementptr inbounds i8, ptr %152, i64 20
  %162 = load i32, ptr %161, align 4
  %163 = getelementptr inbounds i8, ptr %1, i64 16
  store i32 %162, ptr %163, align 8
  %164 = getelementptr inbounds i8, ptr %152, i64 40
  %165 = getelementptr inbounds i8, ptr %1, i64 48
  store ptr %164, ptr %165, align 8
  %166 = sext i32 %162 to i64
  %167 = getelementptr inbounds i64, ptr %164, i64 %166
  %168 = getelementptr inbounds i8, ptr %1, i64 56
  store ptr %167, ptr %168, align 8
  %169 = getelementptr inbounds i8, ptr %152, i64 16
  %170 = load i32, ptr %169, align 8
  %171 = zext i32 %170 to i64
  %172 = getelementptr inbounds i8, ptr %1, i64 32
  store i64 %171, ptr %172, align 8
  %173 = getelementptr inbounds i8, ptr %152, i64 24
  %174 = load i32, ptr %173, align 8
  %175 = getelementptr inbounds i8, ptr %1, i64 24
  store i32 %174, ptr %175, align 8
  %176 = getelementptr inbounds i8, ptr %1, i64 20
  store i32 1, ptr %176, align 4
  %177 = getelementptr inbounds i8, ptr %152, i64 32
  %178 = load ptr, ptr %177, align 8
  %179 = getelementptr inbounds i8, ptr %1, i64 80
  store ptr %178, ptr %179, align 8
  %180 = icmp eq ptr %178, null
  br i1 %180, label %188, label %181

181:
  %182 = getelementptr inbounds i8, ptr %178, i64 32
  %183 = load ptr, ptr %182, align 8
  %184 = getelementptr inbounds i8, ptr %183, i64 %6
  %185 = load i64, ptr %184, align 8
  %186 = icmp ne i64 %185, 0
  %187 = zext i1 %186 to i64
  br label %188

188:
  %189 = phi i64 [ 0, %149 ], [ %187, %181 ]
  %190 = getelementptr inbounds i8, ptr %1, i64 88
  store i64 %189, ptr %190, align 8
  br label %191

191:
  %192 = phi i32 [ %21, %14 ], [ 1, %26 ], [ 1, %39 ], [ 0, %136 ], [ 1, %59 ], [ %135, %134 ], [ 0, %55 ], [ 1, %188 ], [ 0, %142 ], [ 0, %42 ], [ 0, %47 ]
  ret i32 %192
}

define void @tileproof_fast_use(ptr %0, ptr initializes((0, 112)) %1) nounwind {
  store ptr %0, ptr @runtime, align 8
  store i64 816, ptr %1, align 8
  %3 = getelementptr inbounds i8, ptr %1, i64 8
  store i64 208, ptr %3, align 8
  %4 = getelementptr inbounds i8, ptr %1, i64 16
  store i64 368, ptr %4, align 8
  %5 = getelementptr inbounds i8, ptr %1, i64 24
  store i64 40, ptr %5, align 8
  %6 = getelementptr inbounds i8, ptr %1, i64 32
  store i64 40, ptr %6, align 8
  %7 = getelementptr inbounds i8, ptr %1, i64 40
  store i64 96, ptr %7, align 8
  %8 = getelementptr inbounds i8, ptr %1, i64 48
  store i64 32, ptr %8, align 8
  %9 = getelementptr inbounds i8, ptr %1, i64 56
  store i64 393784, ptr %9, align 8
  %10 = getelementptr inbounds i8, ptr %1, i64 64
  store i64 40, ptr %10, align 8
  %11 = getelementptr inbounds i8, ptr %1, i64 72
  store i64 72, ptr %11, align 8
  %12 = getelementptr inbounds i8, ptr %1, i64 80
  store i64 24, ptr %12, align 8
  %13 = getelementptr inbounds i8, ptr %1, i64 88
  store i64 16, ptr %13, align 8
  %14 = getelementptr inbounds i8, ptr %1, i64 96
  store i64 544, ptr %14, align 8
  %15 = getelementptr inbounds i8, ptr %1, i64 104
  store i64 32, ptr %15, align 8
  ret void
}

define internal fastcc range(i32 0, 2) i32 @is_plain(ptr readonly %0, ptr readonly %1, i64 range(i64 -9223372036854775808, 33) %2) unnamed_addr nounwind {
  %4 = alloca ptr, align 8
  %5 = icmp sgt i64 %2, 0
  br i1 %5, label %6, label %127

6:
  %7 = getelementptr inbounds i8, ptr %0, i64 16
  %8 = getelementptr inbounds i8, ptr %0, i64 24
  br label %9

9:
  %10 = phi i32 [ 0, %6 ], [ %100, %99 ]
  %11 = phi i64 [ 0, %6 ], [ %101, %99 ]
  %12 = load i64, ptr %7, align 8
  %13 = lshr i64 %12, %11
  %14 = trunc i64 %13 to i32
  %15 = and i32 %14, 1
  %16 = load i64, ptr %8, align 8
  %17 = lshr i64 %16, %11
  %18 = trunc i64 %17 to i32
  %19 = and i32 %18, 1
  %20 = or i32 %19, %15
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %99, label %22

22:
  %23 = load ptr, ptr @runtime, align 8
  %24 = getelementptr inbounds i8, ptr %23, i64 8
  %25 = load i64, ptr %24, align 8
  %26 = shl nsw i64 %11, 3
  %27 = getelementptr i8, ptr %1, i64 %25
  %28 = getelementptr i8, ptr %27, i64 %26
  %29 = load ptr, ptr %28, align 8
  %30 = load i64, ptr %23, align 8
  %31 = getelementptr i8, ptr %29, i64 %30
  %32 = getelementptr i8, ptr %31, i64 -8
  %33 = load ptr, ptr %32, align 8
  %34 = getelementptr inbounds i8, ptr %23, i64 432
  %35 = getelementptr inbounds i8, ptr %23, i64 424
  %36 = load i64, ptr %35, align 8
  %37 = icmp sgt i64 %36, 0
  br i1 %37, label %41, label %99

38:
  %39 = add nuw nsw i64 %42, 1
  %40 = icmp eq i64 %39, %36
  br i1 %40, label %99, label %41

41:
  %42 = phi i64 [ %39, %38 ], [ 0, %22 ]
  %43 = getelementptr inbounds %struct.reader, ptr %34, i64 %42
  %44 = load ptr, ptr %43, align 8
  %45 = icmp eq ptr %44, %33
  br i1 %45, label %46, label %38

46:
  %47 = getelementptr inbounds i8, ptr %43, i64 8
  %48 = load i64, ptr %47, align 8
  %49 = icmp eq i64 %48, 1
  br i1 %49, label %50, label %99

50:
  store ptr %29, ptr %4, align 8
  %51 = icmp eq i32 %19, 0
  br i1 %51, label %71, label %52

52:
  %53 = getelementptr inbounds i8, ptr %23, i64 120
  %54 = load ptr, ptr %53, align 8
  %55 = getelementptr inbounds i8, ptr %23, i64 200
  %56 = load ptr, ptr %55, align 8
  %57 = call ptr %54(ptr %56, ptr %4, i64 1, ptr null)
  %58 = icmp eq ptr %57, null
  %59 = load ptr, ptr @runtime, align 8
  br i1 %58, label %60, label %63

60:
  %61 = getelementptr inbounds i8, ptr %59, i64 160
  %62 = load ptr, ptr %61, align 8
  call void %62()
  br label %66

63:
  %64 = getelementptr inbounds i8, ptr %59, i64 144
  %65 = load ptr, ptr %64, align 8
  call void %65(ptr %57)
  br label %66

66:
  %67 = load ptr, ptr @runtime, align 8
  %68 = getelementptr inbounds i8, ptr %67, i64 88
  %69 = load ptr, ptr %68, align 8
  %70 = icmp eq ptr %57, %69
  br i1 %70, label %71, label %103

71:
  %72 = phi ptr [ %67, %66 ], [ %23, %50 ]
  %73 = icmp eq i32 %15, 0
  %74 = icmp ne i32 %10, 0
  %75 = select i1 %73, i1 true, i1 %74
  br i1 %75, label %97, label %76

76:
  %77 = getelementptr inbounds i8, ptr %72, i64 128
  %78 = load ptr, ptr %77, align 8
  %79 = load ptr, ptr %4, align 8
  %80 = getelementptr inbounds i8, ptr %72, i64 192
  %81 = load ptr, ptr %80, align 8
  %82 = call ptr %78(ptr %79, ptr %81)
  %83 = icmp eq ptr %82, null
  %84 = load ptr, ptr @runtime, align 8
  br i1 %83, label %85, label %88

85:
  %86 = getelementptr inbounds i8, ptr %84, i64 160
  %87 = load ptr, ptr %86, align 8
  call void %87()
  br label %91

88:
  %89 = getelementptr inbounds i8, ptr %84, i64 144
  %90 = load ptr, ptr %89, align 8
  call void %90(ptr %82)
  br label %91

91:
  %92 = load ptr, ptr @runtime, align 8
  %93 = getelementptr inbounds i8, ptr %92, i64 88
  %94 = load ptr, ptr %93, align 8
  %95 = icmp ne ptr %82, %94
  %96 = zext i1 %95 to i32
  br label %97

97:
  %98 = phi i32 [ %96, %91 ], [ %10, %71 ]
  br label %99

99:
  %100 = phi i32 [ %98, %97 ], [ %10, %46 ], [ %10, %9 ], [ %10, %22 ], [ %10, %38 ]
  %101 = add nuw nsw i64 %11, 1
  %102 = icmp eq i64 %101, %2
  br i1 %102, label %104, label %9

103:
  br label %127

104:
  %105 = icmp eq i32 %100, 0
  br i1 %105, label %127, label %106

106:
  %107 = load ptr, ptr @runtime, align 8
  %108 = getelementptr inbounds i8, ptr %107, i64 120
  %109 = load ptr, ptr %108, align 8
  %110 = getelementptr inbounds i8, ptr %107, i64 184
  %111 = load ptr, ptr %110, align 8
  %112 = call ptr %109(ptr %111, ptr null, i64 0, ptr null)
  %113 = icmp eq ptr %112, null
  %114 = load ptr, ptr @runtime, align 8
  br i1 %113, label %115, label %118

115:
  %116 = getelementptr inbounds i8, ptr %114, i64 160
  %117 = load ptr, ptr %116, align 8
  call void %117()
  br label %121

118:
  %119 = getelementptr inbounds i8, ptr %114, i64 144
  %120 = load ptr, ptr %119, align 8
  call void %120(ptr %112)
  br label %121

121:
  %122 = load ptr, ptr @runtime, align 8
  %123 = getelementptr inbounds i8, ptr %122, i64 88
  %124 = load ptr, ptr %123, align 8
  %125 = icmp eq ptr %112, %124
  %126 = zext i1 %125 to i32
  br label %127

127:
  %128 = phi i32 [ 0, %103 ], [ 1, %104 ], [ %126, %121 ], [ 1, %3 ]
  ret i32 %128
}

define internal fastcc range(i32 0, 2) i32 @fits(ptr readonly %0, ptr readonly %1, i64 range(i64 -9223372036854775808, 33) %2, ptr %3) unnamed_addr nounwind {
  %5 = alloca double, align 8
  %6 = alloca [32 x i64], align 16
  %7 = load i32, ptr %0, align 8
  %8 = sext i32 %7 to i64
  %9 = icmp eq i64 %2, %8
  br i1 %9, label %10, label %699

10:
  %11 = getelementptr inbounds i8, ptr %3, i64 2308
  store i32 0, ptr %11, align 4
  %12 = getelementptr inbounds i8, ptr %3, i64 2304
  store i32 0, ptr %12, align 8
  %13 = getelementptr inbounds i8, ptr %3, i64 2576
  store i64 0, ptr %13, align 8
  %14 = getelementptr inbounds i8, ptr %0, i64 176
  %15 = load i64, ptr %14, align 8
  %16 = getelementptr inbounds i8, ptr %3, i64 2568
  store i64 %15, ptr %16, align 8
  %17 = getelementptr inbounds i8, ptr %0, i64 152
  %18 = load i32, ptr %17, align 8
  %19 = icmp sgt i32 %18, 0
  br i1 %19, label %20, label %23

20:
  %21 = getelementptr inbounds i8, ptr %3, i64 2312
  %22 = zext nneg i32 %18 to i64
  br label %37

23:
  %24 = icmp sgt i64 %2, 0
  br i1 %24, label %25, label %505

25:
  %26 = getelementptr inbounds i8, ptr %0, i64 104
  %27 = load ptr, ptr %26, align 8
  %28 = getelementptr inbounds i8, ptr %3, i64 1280
  %29 = getelementptr inbounds i8, ptr %0, i64 128
  %30 = getelementptr inbounds i8, ptr %0, i64 8
  %31 = getelementptr inbounds i8, ptr %0, i64 12
  %32 = getelementptr inbounds i8, ptr %3, i64 2312
  %33 = getelementptr inbounds i8, ptr %0, i64 160
  %34 = getelementptr inbounds i8, ptr %0, i64 80
  %35 = getelementptr inbounds i8, ptr %0, i64 44
  %36 = getelementptr inbounds i8, ptr %3, i64 2048
  br label %42

37:
  %38 = phi i64 [ 0, %20 ], [ %40, %37 ]
  %39 = getelementptr inbounds i64, ptr %21, i64 %38
  store i64 -1, ptr %39, align 8
  %40 = add nuw nsw i64 %38, 1
  %41 = icmp eq i64 %40, %22
  br i1 %41, label %23, label %37

42:
  %43 = phi i32 [ 0, %25 ], [ %464, %463 ]
  %44 = phi i32 [ 0, %25 ], [ %465, %463 ]
  %45 = phi i64 [ 0, %25 ], [ %466, %463 ]
  %46 = getelementptr inbounds %struct.argument, ptr %27, i64 %45
  %47 = load i32, ptr %46, align 8
  %48 = getelementptr inbounds %struct.seen, ptr %1, i64 %45
  %49 = load i32, ptr %48, align 8
  %50 = icmp eq i32 %47, %49
  br i1 %50, label %51, label %699

51:
  %52 = icmp eq i32 %47, 4
  br i1 %52, label %53, label %414

53:
  %54 = add nsw i32 %44, 1
  store i32 %54, ptr %12, align 8
  %55 = sext i32 %44 to i64
  %56 = getelementptr inbounds %struct.span, ptr %28, i64 %55
  %57 = load i32, ptr %29, align 8
  %58 = icmp eq i32 %57, 0
  %59 = getelementptr inbounds i8, ptr %48, i64 20
  %60 = load i32, ptr %59, align 4
  br i1 %58, label %266, label %61

61:
  %62 = getelementptr inbounds i8, ptr %46, i64 40
  %63 = load i64, ptr %62, align 8
  %64 = getelementptr inbounds i8, ptr %48, i64 32
  %65 = load i64, ptr %64, align 8
  %66 = getelementptr inbounds i8, ptr %46, i64 48
  %67 = sext i32 %60 to i64
  %68 = getelementptr inbounds i64, ptr %66, i64 %67
  %69 = load i64, ptr %68, align 8
  %70 = icmp eq i64 %65, %69
  br i1 %70, label %71, label %699

71:
  %72 = getelementptr inbounds i8, ptr %48, i64 16
  %73 = load i32, ptr %72, align 8
  %74 = getelementptr inbounds i8, ptr %46, i64 8
  %75 = load i32, ptr %74, align 8
  %76 = icmp eq i32 %73, %75
  br i1 %76, label %77, label %699

77:
  %78 = getelementptr inbounds i8, ptr %48, i64 8
  %79 = load i32, ptr %78, align 8
  %80 = load i32, ptr %30, align 8
  %81 = icmp eq i32 %79, %80
  br i1 %81, label %82, label %699

82:
  %83 = getelementptr inbounds i8, ptr %48, i64 12
  %84 = load i32, ptr %83, align 4
  %85 = load i32, ptr %31, align 4
  %86 = icmp eq i32 %84, %85
  br i1 %86, label %87, label %699

87:
  %88 = getelementptr inbounds i8, ptr %46, i64 12
  %89 = load i32, ptr %88, align 4
  %90 = icmp eq i32 %89, 0
  br i1 %90, label %95, label %91

91:
  %92 = getelementptr inbounds i8, ptr %48, i64 24
  %93 = load i32, ptr %92, align 8
  %94 = icmp eq i32 %93, 0
  br i1 %94, label %699, label %95

95:
  %96 = getelementptr inbounds i8, ptr %48, i64 40
  %97 = load i64, ptr %96, align 8
  %98 = getelementptr inbounds i8, ptr %46, i64 64
  %99 = load i64, ptr %98, align 8
  %100 = and i64 %99, %97
  %101 = icmp eq i64 %100, 0
  br i1 %101, label %102, label %699

102:
  %103 = icmp slt i32 %73, 1
  br i1 %103, label %213, label %104

104:
  %105 = getelementptr inbounds i8, ptr %46, i64 112
  %106 = getelementptr inbounds i8, ptr %48, i64 48
  %107 = load ptr, ptr %106, align 8
  %108 = getelementptr inbounds i8, ptr %48, i64 56
  %109 = load ptr, ptr %108, align 8
  %110 = icmp eq i32 %60, 0
  %111 = tail call i64 @llvm.abs.i64(i64 %63, i1 true)
  %112 = icmp ne i64 %63, 0
  %113 = zext nneg i32 %73 to i64
  %114 = xor i1 %90, true
  br label %115

115:
  %116 = phi i64 [ %113, %104 ], [ %121, %208 ]
  %117 = phi i64 [ %63, %104 ], [ %211, %208 ]
  %118 = phi i64 [ %63, %104 ], [ %210, %208 ]
  %119 = phi i64 [ 0, %104 ], [ %209, %208 ]
  %120 = phi i64 [ %63, %104 ], [ %154, %208 ]
  %121 = add nsw i64 %116, -1
  %122 = getelementptr inbounds %struct.axis, ptr %105, i64 %121
  %123 = getelementptr inbounds i64, ptr %107, i64 %121
  %124 = load i64, ptr %123, align 8
  %125 = getelementptr inbounds i64, ptr %109, i64 %121
  %126 = load i64, ptr %125, align 8
  %127 = getelementptr inbounds i8, ptr %122, i64 24
  %128 = load i32, ptr %127, align 8
  %129 = icmp slt i32 %128, 0
  br i1 %129, label %130, label %133

130:
  %131 = load i64, ptr %122, align 8
  %132 = icmp eq i64 %124, %131
  br i1 %132, label %143, label %699

133:
  %134 = zext nneg i32 %128 to i64
  %135 = getelementptr inbounds i64, ptr %32, i64 %134
  %136 = load i64, ptr %135, align 8
  %137 = icmp slt i64 %136, 0
  br i1 %137, label %138, label %141

138:
  %139 = icmp sgt i64 %124, 281474976710655
  br i1 %139, label %699, label %140

140:
  store i64 %124, ptr %135, align 8
  br label %143

141:
  %142 = icmp eq i64 %136, %124
  br i1 %142, label %143, label %699

143:
  %144 = tail call i64 @llvm.abs.i64(i64 %120, i1 true)
  %145 = tail call i64 @llvm.abs.i64(i64 %124, i1 true)
  %146 = or i64 %145, %144
  %147 = icmp samesign ugt i64 %146, 2147483647
  %148 = icmp ne i64 %124, 0
  %149 = and i1 %148, %147
  br i1 %149, label %150, label %153

150:
  %151 = udiv i64 4611686018427387904, %145
  %152 = icmp samesign ugt i64 %144, %151
  br i1 %152, label %699, label %153

153:
  %154 = mul nsw i64 %124, %120
  %155 = icmp slt i64 %124, 2
  br i1 %155, label %208, label %156

156:
  br i1 %110, label %157, label %160

157:
  %158 = srem i64 %126, %63
  %159 = icmp eq i64 %158, 0
  br i1 %159, label %170, label %699

160:
  %161 = tail call i64 @llvm.abs.i64(i64 %126, i1 true)
  %162 = or i64 %161, %111
  %163 = icmp samesign ugt i64 %162, 2147483647
  %164 = and i1 %112, %163
  br i1 %164, label %165, label %168

165:
  %166 = udiv i64 4611686018427387904, %111
  %167 = icmp samesign ugt i64 %161, %166
  br i1 %167, label %699, label %168

168:
  %169 = mul nsw i64 %126, %63
  br label %170

170:
  %171 = phi i64 [ %126, %157 ], [ %169, %168 ]
  %172 = icmp eq i64 %171, %63
  %173 = zext i1 %172 to i32
  %174 = getelementptr inbounds i8, ptr %122, i64 28
  %175 = load i32, ptr %174, align 4
  %176 = icmp eq i32 %175, %173
  br i1 %176, label %177, label %699

177:
  %178 = add nsw i64 %124, -1
  %179 = tail call i64 @llvm.abs.i64(i64 %171, i1 true)
  %180 = or i64 %179, %178
  %181 = icmp samesign ugt i64 %180, 2147483647
  br i1 %181, label %182, label %185

182:
  %183 = udiv i64 4611686018427387904, %178
  %184 = icmp samesign ugt i64 %179, %183
  br i1 %184, label %699, label %185

185:
  %186 = mul nsw i64 %171, %178
  %187 = icmp slt i64 %186, 0
  br i1 %187, label %188, label %195

188:
  %189 = sub nsw i64 0, %171
  %190 = icmp sgt i64 %117, %189
  %191 = select i1 %114, i1 %190, i1 false
  %192 = sub nsw i64 %119, %186
  %193 = icmp sgt i64 %192, 4611686018427387903
  %194 = select i1 %191, i1 true, i1 %193
  br i1 %194, label %699, label %202

195:
  %196 = icmp sge i64 %171, %117
  %197 = select i1 %90, i1 true, i1 %196
  br i1 %197, label %198, label %699

198:
  %199 = add nsw i64 %186, %118
  %200 = add i64 %199, -4611686018427387904
  %201 = icmp ult i64 %200, -9223372036854775807
  br i1 %201, label %699, label %202

202:
  %203 = phi i64 [ %192, %188 ], [ %119, %198 ]
  %204 = phi i64 [ %118, %188 ], [ %199, %198 ]
  %205 = add nsw i64 %204, %203
  %206 = add i64 %205, -4611686018427387904
  %207 = icmp ult i64 %206, -9223372036854775807
  br i1 %207, label %699, label %208

208:
  %209 = phi i64 [ %203, %202 ], [ %119, %153 ]
  %210 = phi i64 [ %204, %202 ], [ %118, %153 ]
  %211 = phi i64 [ %205, %202 ], [ %117, %153 ]
  %212 = icmp samesign ult i64 %116, 2
  br i1 %212, label %213, label %115

213:
  %214 = phi i64 [ %63, %102 ], [ %154, %208 ]
  %215 = phi i64 [ 0, %102 ], [ %209, %208 ]
  %216 = phi i64 [ %63, %102 ], [ %210, %208 ]
  %217 = getelementptr inbounds i8, ptr %46, i64 32
  %218 = load i32, ptr %217, align 8
  %219 = icmp sgt i32 %218, -1
  br i1 %219, label %220, label %225

220:
  %221 = load i64, ptr %33, align 8
  %222 = icmp uge i64 %214, %221
  %223 = zext i1 %222 to i32
  %224 = icmp eq i32 %218, %223
  br i1 %224, label %225, label %699

225:
  %226 = load i64, ptr %13, align 8
  %227 = add i64 %226, %214
  store i64 %227, ptr %13, align 8
  %228 = load i64, ptr %96, align 8
  %229 = getelementptr inbounds i8, ptr %56, i64 8
  store i64 %228, ptr %229, align 8
  store i64 %228, ptr %56, align 8
  %230 = sext i32 %89 to i64
  %231 = getelementptr inbounds i8, ptr %56, i64 16
  store i64 %230, ptr %231, align 8
  %232 = icmp eq i64 %214, 0
  br i1 %232, label %396, label %233

233:
  %234 = sub i64 %228, %215
  store i64 %234, ptr %56, align 8
  %235 = add i64 %228, %216
  store i64 %235, ptr %229, align 8
  %236 = icmp ult i64 %234, 65536
  br i1 %236, label %699, label %237

237:
  %238 = icmp ugt i64 %215, %228
  %239 = icmp ult i64 %235, %228
  %240 = select i1 %238, i1 true, i1 %239
  br i1 %240, label %699, label %241

241:
  %242 = getelementptr inbounds i8, ptr %48, i64 80
  %243 = load ptr, ptr %242, align 8
  %244 = icmp eq ptr %243, null
  br i1 %244, label %396, label %245

245:
  %246 = getelementptr inbounds i8, ptr %243, i64 24
  %247 = load i32, ptr %246, align 8
  %248 = icmp eq i32 %247, 0
  %249 = or i1 %90, %248
  br i1 %249, label %265, label %250

250:
  %251 = getelementptr inbounds i8, ptr %46, i64 28
  %252 = load i32, ptr %251, align 4
  %253 = icmp eq i32 %252, 0
  %254 = sub i64 %235, %234
  %255 = icmp eq i64 %214, %254
  %256 = select i1 %253, i1 %255, i1 false
  br i1 %256, label %257, label %699

257:
  %258 = getelementptr inbounds i8, ptr %243, i64 8
  %259 = load i64, ptr %258, align 8
  %260 = icmp eq i64 %234, %259
  br i1 %260, label %261, label %699

261:
  %262 = getelementptr inbounds i8, ptr %243, i64 16
  %263 = load i64, ptr %262, align 8
  %264 = icmp eq i64 %235, %263
  br i1 %264, label %396, label %699

265:
  br i1 %248, label %396, label %699

266:
  %267 = getelementptr inbounds i8, ptr %48, i64 32
  %268 = load i64, ptr %267, align 8
  %269 = getelementptr inbounds i8, ptr %46, i64 48
  %270 = sext i32 %60 to i64
  %271 = getelementptr inbounds i64, ptr %269, i64 %270
  %272 = load i64, ptr %271, align 8
  %273 = icmp eq i64 %268, %272
  br i1 %273, label %274, label %699

274:
  %275 = getelementptr inbounds i8, ptr %48, i64 16
  %276 = load i32, ptr %275, align 8
  %277 = getelementptr inbounds i8, ptr %46, i64 8
  %278 = load i32, ptr %277, align 8
  %279 = icmp eq i32 %276, %278
  br i1 %279, label %280, label %699

280:
  %281 = getelementptr inbounds i8, ptr %48, i64 8
  %282 = load i32, ptr %281, align 8
  %283 = load i32, ptr %30, align 8
  %284 = icmp eq i32 %282, %283
  br i1 %284, label %285, label %699

285:
  %286 = getelementptr inbounds i8, ptr %48, i64 12
  %287 = load i32, ptr %286, align 4
  %288 = load i32, ptr %31, align 4
  %289 = icmp eq i32 %287, %288
  br i1 %289, label %290, label %699

290:
  %291 = load ptr, ptr %34, align 8
  %292 = icmp eq ptr %291, null
  br i1 %292, label %304, label %293

293:
  %294 = getelementptr inbounds i8, ptr %48, i64 4
  %295 = load i32, ptr %294, align 4
  %296 = icmp eq i32 %295, 1
  br i1 %296, label %297, label %300

297:
  %298 = load i32, ptr %35, align 4
  %299 = icmp eq i32 %298, 0
  br i1 %299, label %699, label %300

300:
  %301 = getelementptr inbounds i8, ptr %48, i64 88
  %302 = load i64, ptr %301, align 8
  %303 = icmp eq i64 %302, 0
  br i1 %303, label %304, label %699

304:
  %305 = getelementptr inbounds i8, ptr %46, i64 12
  %306 = load i32, ptr %305, align 4
  %307 = icmp eq i32 %306, 0
  br i1 %307, label %312, label %308

308:
  %309 = getelementptr inbounds i8, ptr %48, i64 24
  %310 = load i32, ptr %309, align 8
  %311 = icmp eq i32 %310, 0
  br i1 %311, label %699, label %312

312:
  %313 = icmp sgt i32 %276, 0
  br i1 %313, label %314, label %329

314:
  %315 = getelementptr inbounds i8, ptr %48, i64 48
  %316 = load ptr, ptr %315, align 8
  %317 = getelementptr inbounds i8, ptr %46, i64 112
  %318 = zext nneg i32 %276 to i64
  br label %322

319:
  %320 = add nuw nsw i64 %323, 1
  %321 = icmp eq i64 %320, %318
  br i1 %321, label %329, label %322

322:
  %323 = phi i64 [ 0, %314 ], [ %320, %319 ]
  %324 = getelementptr inbounds i64, ptr %316, i64 %323
  %325 = load i64, ptr %324, align 8
  %326 = getelementptr inbounds %struct.axis, ptr %317, i64 %323
  %327 = load i64, ptr %326, align 8
  %328 = icmp eq i64 %325, %327
  br i1 %328, label %319, label %699

329:
  %330 = getelementptr inbounds i8, ptr %48, i64 40
  %331 = load i64, ptr %330, align 8
  %332 = getelementptr inbounds i8, ptr %46, i64 64
  %333 = load i64, ptr %332, align 8
  %334 = and i64 %333, %331
  %335 = icmp eq i64 %334, 0
  br i1 %335, label %336, label %699

336:
  %337 = getelementptr inbounds i8, ptr %56, i64 8
  store i64 %331, ptr %337, align 8
  store i64 %331, ptr %56, align 8
  %338 = sext i32 %306 to i64
  %339 = getelementptr inbounds i8, ptr %56, i64 16
  store i64 %338, ptr %339, align 8
  %340 = getelementptr inbounds i8, ptr %46, i64 20
  %341 = load i32, ptr %340, align 4
  %342 = icmp eq i32 %341, 0
  br i1 %342, label %343, label %396

343:
  br i1 %313, label %344, label %364

344:
  %345 = getelementptr inbounds i8, ptr %46, i64 112
  %346 = getelementptr inbounds i8, ptr %48, i64 56
  %347 = zext nneg i32 %276 to i64
  br label %348

348:
  %349 = phi i64 [ 0, %344 ], [ %362, %361 ]
  %350 = getelementptr inbounds %struct.axis, ptr %345, i64 %349
  %351 = load i64, ptr %350, align 8
  %352 = icmp sgt i64 %351, 1
  br i1 %352, label %353, label %361

353:
  %354 = load ptr, ptr %346, align 8
  %355 = getelementptr inbounds i64, ptr %354, i64 %349
  %356 = load i64, ptr %355, align 8
  %357 = getelementptr inbounds i8, ptr %350, i64 8
  %358 = getelementptr inbounds i64, ptr %357, i64 %270
  %359 = load i64, ptr %358, align 8
  %360 = icmp eq i64 %356, %359
  br i1 %360, label %361, label %699

361:
  %362 = add nuw nsw i64 %349, 1
  %363 = icmp eq i64 %362, %347
  br i1 %363, label %364, label %348

364:
  %365 = getelementptr inbounds i8, ptr %46, i64 72
  %366 = load i64, ptr %365, align 8
  %367 = sub i64 %331, %366
  store i64 %367, ptr %56, align 8
  %368 = getelementptr inbounds i8, ptr %46, i64 80
  %369 = load i64, ptr %368, align 8
  %370 = add i64 %369, %331
  store i64 %370, ptr %337, align 8
  %371 = icmp ult i64 %367, 65536
  br i1 %371, label %699, label %372

372:
  %373 = icmp ugt i64 %366, %331
  %374 = icmp ult i64 %370, %331
  %375 = select i1 %373, i1 true, i1 %374
  br i1 %375, label %699, label %376

376:
  %377 = getelementptr inbounds i8, ptr %48, i64 80
  %378 = load ptr, ptr %377, align 8
  %379 = icmp eq ptr %378, null
  br i1 %379, label %396, label %380

380:
  %381 = getelementptr inbounds i8, ptr %378, i64 24
  %382 = load i32, ptr %381, align 8
  %383 = icmp eq i32 %382, 0
  br i1 %383, label %396, label %384

384:
  %385 = getelementptr inbounds i8, ptr %46, i64 24
  %386 = load i32, ptr %385, align 8
  %387 = icmp eq i32 %386, 0
  br i1 %387, label %699, label %388

388:
  %389 = getelementptr inbounds i8, ptr %378, i64 8
  %390 = load i64, ptr %389, align 8
  %391 = icmp eq i64 %367, %390
  br i1 %391, label %392, label %699

392:
  %393 = getelementptr inbounds i8, ptr %378, i64 16
  %394 = load i64, ptr %393, align 8
  %395 = icmp eq i64 %370, %394
  br i1 %395, label %396, label %699

396:
  %397 = phi i32 [ %306, %376 ], [ %306, %336 ], [ %306, %380 ], [ %89, %241 ], [ %89, %225 ], [ %306, %392 ], [ %89, %265 ], [ %89, %261 ]
  %398 = phi i64 [ %367, %376 ], [ %331, %336 ], [ %367, %380 ], [ %234, %241 ], [ %228, %225 ], [ %367, %392 ], [ %234, %265 ], [ %234, %261 ]
  %399 = phi i64 [ %370, %376 ], [ %331, %336 ], [ %370, %380 ], [ %235, %241 ], [ %228, %225 ], [ %370, %392 ], [ %235, %265 ], [ %235, %261 ]
  br i1 %58, label %400, label %404

400:
  %401 = sub i64 %399, %398
  %402 = load i64, ptr %13, align 8
  %403 = add i64 %401, %402
  store i64 %403, ptr %13, align 8
  br label %404

404:
  %405 = icmp eq i32 %397, 0
  br i1 %405, label %463, label %406

406:
  %407 = getelementptr inbounds i8, ptr %48, i64 80
  %408 = load ptr, ptr %407, align 8
  %409 = icmp eq ptr %408, null
  br i1 %409, label %463, label %410

410:
  %411 = add nsw i32 %43, 1
  store i32 %411, ptr %11, align 4
  %412 = sext i32 %43 to i64
  %413 = getelementptr inbounds ptr, ptr %36, i64 %412
  store ptr %408, ptr %413, align 8
  br label %463

414:
  %415 = getelementptr inbounds i64, ptr %6, i64 %45
  store double 0.000000e+00, ptr %5, align 8
  %416 = icmp eq i32 %47, 2
  br i1 %416, label %428, label %417

417:
  %418 = getelementptr inbounds i8, ptr %48, i64 64
  %419 = load i64, ptr %418, align 8
  %420 = getelementptr inbounds i8, ptr %46, i64 88
  %421 = load i64, ptr %420, align 8
  %422 = icmp slt i64 %419, %421
  %423 = bitcast i64 %419 to double
  br i1 %422, label %460, label %424

424:
  %425 = getelementptr inbounds i8, ptr %46, i64 96
  %426 = load i64, ptr %425, align 8
  %427 = icmp sgt i64 %419, %426
  br i1 %427, label %460, label %435

428:
  %429 = getelementptr inbounds i8, ptr %46, i64 16
  %430 = load i32, ptr %429, align 8
  %431 = icmp eq i32 %430, 0
  br i1 %431, label %432, label %439

432:
  %433 = getelementptr inbounds i8, ptr %48, i64 64
  %434 = load double, ptr %433, align 8
  br label %461

435:
  %436 = getelementptr inbounds i8, ptr %46, i64 16
  %437 = load i32, ptr %436, align 8
  %438 = icmp eq i32 %437, 0
  br i1 %438, label %461, label %442

439:
  %440 = getelementptr inbounds i8, ptr %48, i64 72
  %441 = load double, ptr %440, align 8
  br label %444

442:
  %443 = sitofp i64 %419 to double
  br label %444

444:
  %445 = phi i32 [ %430, %439 ], [ %437, %442 ]
  %446 = phi double [ %441, %439 ], [ %443, %442 ]
  %447 = fcmp olt double %446, 0.000000e+00
  %448 = fneg double %446
  %449 = select i1 %447, double %448, double %446
  %450 = getelementptr inbounds i8, ptr %46, i64 104
  %451 = load double, ptr %450, align 8
  %452 = fcmp ole double %449, %451
  %453 = fcmp oeq double %449, 0x7FF0000000000000
  %454 = or i1 %452, %453
  br i1 %454, label %455, label %460

455:
  %456 = icmp eq i32 %445, 1
  br i1 %456, label %457, label %461

457:
  %458 = fptrunc double %446 to float
  store float %458, ptr %5, align 8
  %459 = load double, ptr %5, align 8
  br label %461

460:
  br label %699

461:
  %462 = phi double [ %423, %435 ], [ %459, %457 ], [ %434, %432 ], [ %446, %455 ]
  store double %462, ptr %415, align 8
  br label %463

463:
  %464 = phi i32 [ %43, %461 ], [ %411, %410 ], [ %43, %406 ], [ %43, %404 ]
  %465 = phi i32 [ %44, %461 ], [ %54, %410 ], [ %54, %406 ], [ %54, %404 ]
  %466 = add nuw nsw i64 %45, 1
  %467 = icmp eq i64 %466, %2
  br i1 %467, label %468, label %42

468:
  %469 = getelementptr inbounds i8, ptr %3, i64 1280
  %470 = icmp sgt i32 %465, 1
  br i1 %470, label %471, label %505

471:
  %472 = zext nneg i32 %465 to i64
  br label %473

473:
  %474 = phi i64 [ 1, %471 ], [ %503, %502 ]
  %475 = getelementptr inbounds %struct.span, ptr %469, i64 %474
  %476 = getelementptr inbounds i8, ptr %475, i64 16
  %477 = load i64, ptr %476, align 8
  %478 = getelementptr inbounds i8, ptr %475, i64 8
  br label %479

479:
  %480 = phi i64 [ 0, %473 ], [ %500, %499 ]
  %481 = getelementptr inbounds %struct.span, ptr %469, i64 %480
  %482 = getelementptr inbounds i8, ptr %481, i64 16
  %483 = load i64, ptr %482, align 8
  %484 = or i64 %483, %477
  %485 = icmp eq i64 %484, 0
  br i1 %485, label %499, label %486

486:
  %487 = load i64, ptr %475, align 8
  %488 = getelementptr inbounds i8, ptr %481, i64 8
  %489 = load i64, ptr %488, align 8
  %490 = icmp ult i64 %487, %489
  br i1 %490, label %491, label %499

491:
  %492 = load i64, ptr %481, align 8
  %493 = load i64, ptr %478, align 8
  %494 = icmp uge i64 %492, %493
  %495 = icmp eq i64 %487, %493
  %496 = or i1 %494, %495
  %497 = icmp eq i64 %492, %489
  %498 = or i1 %497, %496
  br i1 %498, label %499, label %699

499:
  %500 = add nuw nsw i64 %480, 1
  %501 = icmp eq i64 %500, %474
  br i1 %501, label %502, label %479

502:
  %503 = add nuw nsw i64 %474, 1
  %504 = icmp eq i64 %503, %472
  br i1 %504, label %505, label %473

505:
  %506 = getelementptr inbounds i8, ptr %0, i64 4
  %507 = load i32, ptr %506, align 4
  %508 = icmp sgt i32 %507, 0
  br i1 %508, label %509, label %513

509:
  %510 = getelementptr inbounds i8, ptr %0, i64 96
  %511 = load ptr, ptr %510, align 8
  %512 = zext nneg i32 %507 to i64
  br label %517

513:
  %514 = getelementptr inbounds i8, ptr %0, i64 128
  %515 = load i32, ptr %514, align 8
  %516 = icmp eq i32 %515, 0
  br i1 %516, label %676, label %524

517:
  %518 = phi i64 [ 0, %509 ], [ %522, %517 ]
  %519 = getelementptr inbounds i64, ptr %511, i64 %518
  %520 = load i64, ptr %519, align 8
  %521 = getelementptr inbounds i64, ptr %3, i64 %518
  store i64 %520, ptr %521, align 8
  %522 = add nuw nsw i64 %518, 1
  %523 = icmp eq i64 %522, %512
  br i1 %523, label %513, label %517

524:
  %525 = getelementptr inbounds i8, ptr %0, i64 140
  %526 = load i32, ptr %525, align 4
  %527 = icmp sgt i32 %526, 0
  br i1 %527, label %528, label %561

528:
  %529 = getelementptr inbounds i8, ptr %0, i64 192
  %530 = load ptr, ptr %529, align 8
  %531 = getelementptr inbounds i8, ptr %3, i64 2312
  %532 = zext nneg i32 %526 to i64
  br label %533

533:
  %534 = phi i64 [ 0, %528 ], [ %559, %558 ]
  %535 = getelementptr inbounds %struct.divided, ptr %530, i64 %534
  %536 = load i32, ptr %535, align 8
  %537 = sext i32 %536 to i64
  %538 = getelementptr inbounds i64, ptr %531, i64 %537
  %539 = load i64, ptr %538, align 8
  %540 = getelementptr inbounds i8, ptr %535, i64 4
  %541 = load i32, ptr %540, align 4
  %542 = icmp eq i32 %541, 2
  br i1 %542, label %543, label %547

543:
  %544 = getelementptr inbounds i8, ptr %535, i64 8
  %545 = load i64, ptr %544, align 8
  %546 = icmp sgt i64 %539, %545
  br i1 %546, label %699, label %558

547:
  %548 = icmp eq i64 %539, 0
  br i1 %548, label %555, label %549

549:
  %550 = getelementptr inbounds i8, ptr %535, i64 8
  %551 = load i64, ptr %550, align 8
  %552 = srem i64 %539, %551
  %553 = icmp eq i64 %552, 0
  %554 = zext i1 %553 to i32
  br label %555

555:
  %556 = phi i32 [ 0, %547 ], [ %554, %549 ]
  %557 = icmp eq i32 %556, %541
  br i1 %557, label %558, label %699

558:
  %559 = add nuw nsw i64 %534, 1
  %560 = icmp eq i64 %559, %532
  br i1 %560, label %561, label %533

561:
  store i64 1, ptr %16, align 8
  %562 = getelementptr inbounds i8, ptr %0, i64 136
  %563 = load i32, ptr %562, align 8
  %564 = icmp sgt i32 %563, 0
  br i1 %564, label %565, label %676

565:
  %566 = getelementptr inbounds i8, ptr %0, i64 184
  %567 = load ptr, ptr %566, align 8
  %568 = getelementptr inbounds i8, ptr %0, i64 168
  %569 = getelementptr inbounds i8, ptr %3, i64 2312
  %570 = getelementptr inbounds i8, ptr %0, i64 104
  %571 = zext nneg i32 %563 to i64
  br label %572

572:
  %573 = phi i64 [ 0, %565 ], [ %674, %673 ]
  %574 = getelementptr inbounds %struct.source, ptr %567, i64 %573
  %575 = getelementptr inbounds i8, ptr %574, i64 4
  %576 = load i32, ptr %575, align 4
  switch i32 %576, label %666 [
    i32 0, label %577
    i32 1, label %589
    i32 2, label %610
    i32 3, label %616
    i32 4, label %646
    i32 5, label %661
  ]

577:
  %578 = getelementptr inbounds i8, ptr %574, i64 8
  %579 = load i32, ptr %578, align 8
  %580 = sext i32 %579 to i64
  %581 = getelementptr inbounds %struct.seen, ptr %1, i64 %580
  %582 = getelementptr inbounds i8, ptr %581, i64 48
  %583 = load ptr, ptr %582, align 8
  %584 = getelementptr inbounds i8, ptr %574, i64 12
  %585 = load i32, ptr %584, align 4
  %586 = sext i32 %585 to i64
  %587 = getelementptr inbounds i64, ptr %583, i64 %586
  %588 = load i64, ptr %587, align 8
  br label %666

589:
  %590 = getelementptr inbounds i8, ptr %574, i64 8
  %591 = load i32, ptr %590, align 8
  %592 = sext i32 %591 to i64
  %593 = getelementptr inbounds %struct.seen, ptr %1, i64 %592
  %594 = getelementptr inbounds i8, ptr %593, i64 56
  %595 = load ptr, ptr %594, align 8
  %596 = getelementptr inbounds i8, ptr %574, i64 12
  %597 = load i32, ptr %596, align 4
  %598 = sext i32 %597 to i64
  %599 = getelementptr inbounds i64, ptr %595, i64 %598
  %600 = load i64, ptr %599, align 8
  %601 = getelementptr inbounds i8, ptr %593, i64 20
  %602 = load i32, ptr %601, align 4
  %603 = icmp eq i32 %602, 0
  br i1 %603, label %604, label %666

604:
  %605 = load ptr, ptr %570, align 8
  %606 = getelementptr inbounds %struct.argument, ptr %605, i64 %592
  %607 = getelementptr inbounds i8, ptr %606, i64 40
  %608 = load i64, ptr %607, align 8
  %609 = sdiv i64 %600, %608
  br label %666

610:
  %611 = getelementptr inbounds i8, ptr %574, i64 8
  %612 = load i32, ptr %611, align 8
  %613 = sext i32 %612 to i64
  %614 = getelementptr inbounds i64, ptr %569, i64 %613
  %615 = load i64, ptr %614, align 8
  br label %666

616:
  %617 = getelementptr inbounds i8, ptr %574, i64 8
  %618 = load i32, ptr %617, align 8
  %619 = sext i32 %618 to i64
  %620 = getelementptr inbounds i64, ptr %569, i64 %619
  %621 = load i64, ptr %620, align 8
  %622 = getelementptr inbounds i8, ptr %574, i64 16
  %623 = load i64, ptr %622, align 8
  %624 = sdiv i64 %621, %623
  %625 = srem i64 %621, %623
  %626 = icmp ne i64 %625, 0
  %627 = zext i1 %626 to i64
  %628 = add nsw i64 %624, %627
  %629 = getelementptr inbounds i8, ptr %574, i64 12
  %630 = load i32, ptr %629, align 4
  %631 = icmp eq i32 %630, 0
  %632 = tail call i64 @llvm.smax.i64(i64 %628, i64 1)
  %633 = select i1 %631, i64 %628, i64 %632
  %634 = load i64, ptr %16, align 8
  %635 = tail call i64 @llvm.abs.i64(i64 %634, i1 true)
  %636 = tail call i64 @llvm.abs.i64(i64 %633, i1 true)
  %637 = or i64 %636, %635
  %638 = icmp samesign ugt i64 %637, 2147483647
  %639 = icmp ne i64 %633, 0
  %640 = and i1 %639, %638
  br i1 %640, label %641, label %644

641:
  %642 = udiv i64 4611686018427387904, %636
  %643 = icmp samesign ugt i64 %635, %642
  br i1 %643, label %699, label %644

644:
  %645 = mul nsw i64 %633, %634
  store i64 %645, ptr %16, align 8
  br label %666

646:
  %647 = load i64, ptr %16, align 8
  %648 = getelementptr inbounds i8, ptr %574, i64 16
  %649 = load i64, ptr %648, align 8
  %650 = tail call i64 @llvm.abs.i64(i64 %647, i1 true)
  %651 = tail call i64 @llvm.abs.i64(i64 %649, i1 true)
  %652 = or i64 %651, %650
  %653 = icmp samesign ugt i64 %652, 2147483647
  %654 = icmp ne i64 %649, 0
  %655 = and i1 %654, %653
  br i1 %655, label %656, label %659

656:
  %657 = udiv i64 4611686018427387904, %651
  %658 = icmp samesign ugt i64 %650, %657
  br i1 %658, label %699, label %659

659:
  %660 = mul nsw i64 %649, %647
  store i64 %660, ptr %16, align 8
  br label %666

661:
  %662 = load i64, ptr %16, align 8
  %663 = load i64, ptr %568, align 8
  %664 = sdiv i64 %662, %663
  %665 = tail call i64 @llvm.smax.i64(i64 %664, i64 1)
  br label %666

666:
  %667 = phi i64 [ 0, %572 ], [ %588, %577 ], [ %609, %604 ], [ %600, %589 ], [ %615, %610 ], [ %633, %644 ], [ %660, %659 ], [ %665, %661 ]
  %668 = load i32, ptr %574, align 8
  %669 = icmp sgt i32 %668, -1
  br i1 %669, label %670, label %673

670:
  %671 = zext nneg i32 %668 to i64
  %672 = getelementptr inbounds i64, ptr %3, i64 %671
  store i64 %667, ptr %672, align 8
  br label %673

673:
  %674 = add nuw nsw i64 %573, 1
  %675 = icmp eq i64 %674, %571
  br i1 %675, label %676, label %572

676:
  br i1 %24, label %677, label %699

677:
  %678 = getelementptr inbounds i8, ptr %0, i64 104
  %679 = load ptr, ptr %678, align 8
  br label %680

680:
  %681 = phi i64 [ 0, %677 ], [ %697, %696 ]
  %682 = getelementptr inbounds %struct.argument, ptr %679, i64 %681
  %683 = getelementptr inbounds i8, ptr %682, i64 4
  %684 = load i32, ptr %683, align 4
  %685 = icmp sgt i32 %684, -1
  br i1 %685, label %686, label %696

686:
  %687 = load i32, ptr %682, align 8
  %688 = icmp eq i32 %687, 4
  %689 = getelementptr inbounds %struct.seen, ptr %1, i64 %681
  %690 = getelementptr inbounds i8, ptr %689, i64 40
  %691 = getelementptr inbounds i64, ptr %6, i64 %681
  %692 = select i1 %688, ptr %690, ptr %691
  %693 = load i64, ptr %692, align 8
  %694 = zext nneg i32 %684 to i64
  %695 = getelementptr inbounds i64, ptr %3, i64 %694
  store i64 %693, ptr %695, align 8
  br label %696

696:
  %697 = add nuw nsw i64 %681, 1
  %698 = icmp eq i64 %697, %2
  br i1 %698, label %699, label %680

699:
  %700 = phi i32 [ 0, %195 ], [ 1, %696 ], [ 0, %353 ], [ 0, %4 ], [ 0, %460 ], [ 0, %555 ], [ 0, %491 ], [ 1, %676 ], [ 0, %641 ], [ 0, %322 ], [ 0, %656 ], [ 0, %543 ], [ 0, %138 ], [ 0, %198 ], [ 0, %170 ], [ 0, %157 ], [ 0, %141 ], [ 0, %130 ], [ 0, %150 ], [ 0, %165 ], [ 0, %182 ], [ 0, %202 ], [ 0, %188 ], [ 0, %261 ], [ 0, %42 ], [ 0, %392 ], [ 0, %265 ], [ 0, %77 ], [ 0, %61 ], [ 0, %91 ], [ 0, %95 ], [ 0, %233 ], [ 0, %220 ], [ 0, %71 ], [ 0, %82 ], [ 0, %237 ], [ 0, %257 ], [ 0, %250 ], [ 0, %297 ], [ 0, %266 ], [ 0, %280 ], [ 0, %308 ], [ 0, %329 ], [ 0, %364 ], [ 0, %274 ], [ 0, %285 ], [ 0, %300 ], [ 0, %372 ], [ 0, %388 ], [ 0, %384 ]
  ret i32 %700
}

define internal fastcc range(i32 0, 5) i32 @start(ptr readonly %0, ptr %1, ptr %2, ptr %3, ptr readonly %4, ptr %5) unnamed_addr nounwind {
  %7 = alloca [3 x ptr], align 16
  %8 = alloca %struct.attribute, align 4
  %9 = alloca %struct.config, align 8
  %10 = alloca i32, align 4
  %11 = alloca [160 x ptr], align 16
  %12 = alloca ptr, align 8
  %13 = alloca ptr, align 8
  %14 = getelementptr inbounds i8, ptr %0, i64 64
  %15 = load ptr, ptr %14, align 8
  store ptr %15, ptr %12, align 8
  store ptr null, ptr %13, align 8
  %16 = getelementptr inbounds i8, ptr %0, i64 52
  %17 = load i32, ptr %16, align 4
  %18 = icmp eq i32 %17, 0
  br i1 %18, label %479, label %19

19:
  %20 = getelementptr inbounds i8, ptr %0, i64 44
  %21 = load i32, ptr %20, align 4
  %22 = icmp eq i32 %21, 0
  br i1 %22, label %61, label %23

23:
  %24 = load i64, ptr %4, align 8
  %25 = icmp sgt i64 %24, -1
  br i1 %25, label %26, label %31

26:
  %27 = getelementptr inbounds i8, ptr %0, i64 12
  %28 = load i32, ptr %27, align 4
  %29 = sext i32 %28 to i64
  %30 = icmp eq i64 %24, %29
  br i1 %30, label %31, label %479

31:
  %32 = getelementptr inbounds i8, ptr %4, i64 8
  %33 = load ptr, ptr %32, align 8
  store ptr %33, ptr %12, align 8
  %34 = getelementptr inbounds i8, ptr %4, i64 16
  %35 = load i32, ptr %34, align 8
  %36 = icmp eq i32 %35, 0
  br i1 %36, label %61, label %37

37:
  %38 = load ptr, ptr @runtime, align 8
  %39 = getelementptr inbounds i8, ptr %38, i64 208
  %40 = load ptr, ptr %39, align 8
  %41 = icmp eq ptr %40, null
  br i1 %41, label %479, label %42

42:
  %43 = getelementptr inbounds i8, ptr %0, i64 8
  %44 = load i32, ptr %43, align 8
  %45 = getelementptr inbounds i8, ptr %0, i64 12
  %46 = load i32, ptr %45, align 4
  %47 = call i32 %40(i32 %44, i32 %46, ptr %12)
  %48 = icmp eq i32 %47, 0
  br i1 %48, label %53, label %49

49:
  %50 = load ptr, ptr @runtime, align 8
  %51 = getelementptr inbounds i8, ptr %50, i64 160
  %52 = load ptr, ptr %51, align 8
  call void %52()
  br label %479

53:
  %54 = getelementptr inbounds i8, ptr %4, i64 20
  %55 = load i32, ptr %54, align 4
  %56 = icmp eq i32 %55, 0
  br i1 %56, label %57, label %61

57:
  %58 = load ptr, ptr %12, align 8
  %59 = load ptr, ptr %32, align 8
  %60 = icmp eq ptr %58, %59
  br i1 %60, label %61, label %479

61:
  %62 = getelementptr inbounds i8, ptr %0, i64 88
  %63 = load ptr, ptr %62, align 8
  %64 = icmp eq ptr %63, null
  br i1 %64, label %73, label %65

65:
  %66 = call i32 %63(ptr %13)
  %67 = icmp eq i32 %66, 0
  br i1 %67, label %68, label %479

68:
  %69 = load ptr, ptr %13, align 8
  %70 = getelementptr inbounds i8, ptr %0, i64 72
  %71 = load ptr, ptr %70, align 8
  %72 = icmp eq ptr %69, %71
  br i1 %72, label %73, label %479

73:
  %74 = getelementptr inbounds i8, ptr %0, i64 120
  %75 = load ptr, ptr %74, align 8
  %76 = icmp eq ptr %75, null
  br i1 %76, label %86, label %77

77:
  %78 = load ptr, ptr %12, align 8
  store i32 1, ptr %10, align 4
  %79 = getelementptr inbounds i8, ptr %75, i64 48
  %80 = load ptr, ptr %79, align 8
  %81 = call i32 %80(ptr %78, ptr %10)
  %82 = icmp eq i32 %81, 0
  %83 = load i32, ptr %10, align 4
  %84 = icmp eq i32 %83, 0
  %85 = select i1 %82, i1 %84, i1 false
  br i1 %85, label %86, label %479

86:
  %87 = getelementptr inbounds i8, ptr %0, i64 112
  %88 = load ptr, ptr %87, align 8
  %89 = icmp eq ptr %88, null
  br i1 %89, label %236, label %90

90:
  %91 = load ptr, ptr %12, align 8
  %92 = getelementptr inbounds i8, ptr %88, i64 16
  %93 = load i64, ptr %92, align 8
  %94 = icmp sgt i64 %93, 0
  br i1 %94, label %95, label %109

95:
  %96 = getelementptr inbounds i8, ptr %88, i64 24
  %97 = load ptr, ptr %96, align 8
  br label %98

98:
  %99 = phi i64 [ 0, %95 ], [ %107, %106 ]
  %100 = getelementptr inbounds ptr, ptr %97, i64 %99
  %101 = load ptr, ptr %100, align 8
  %102 = icmp eq ptr %101, null
  br i1 %102, label %106, label %103

103:
  %104 = load ptr, ptr %101, align 8
  %105 = icmp eq ptr %104, %91
  br i1 %105, label %110, label %106

106:
  %107 = add nuw nsw i64 %99, 1
  %108 = icmp eq i64 %107, %93
  br i1 %108, label %109, label %98

109:
  store ptr null, ptr %5, align 8
  br label %479

110:
  store ptr %101, ptr %5, align 8
  %111 = getelementptr inbounds i8, ptr %101, i64 24
  %112 = load i64, ptr %111, align 8
  %113 = load i64, ptr %88, align 8
  %114 = getelementptr inbounds i8, ptr %88, i64 8
  %115 = load i64, ptr %114, align 8
  %116 = or i64 %115, %113
  %117 = icmp eq i64 %116, 0
  br i1 %117, label %118, label %479

118:
  %119 = getelementptr inbounds i8, ptr %101, i64 40
  %120 = load i64, ptr %119, align 8
  %121 = sub nsw i64 %120, %112
  %122 = getelementptr inbounds i8, ptr %3, i64 2304
  %123 = load i32, ptr %122, align 8
  %124 = sext i32 %123 to i64
  %125 = icmp slt i64 %121, %124
  br i1 %125, label %479, label %126

126:
  %127 = getelementptr inbounds i8, ptr %101, i64 16
  %128 = load atomic i64, ptr %127 acquire, align 8
  %129 = getelementptr inbounds i8, ptr %101, i64 8
  %130 = load i64, ptr %129, align 8
  %131 = icmp eq i64 %128, %130
  br i1 %131, label %132, label %479

132:
  %133 = load i64, ptr %92, align 8
  %134 = icmp sgt i64 %133, 0
  br i1 %134, label %135, label %204

135:
  %136 = load ptr, ptr %96, align 8
  %137 = getelementptr inbounds i8, ptr %3, i64 1280
  %138 = getelementptr inbounds i8, ptr %101, i64 56
  br label %139

139:
  %140 = phi i64 [ 0, %135 ], [ %202, %201 ]
  %141 = getelementptr inbounds ptr, ptr %136, i64 %140
  %142 = load ptr, ptr %141, align 8
  %143 = icmp eq ptr %142, null
  %144 = icmp eq ptr %142, %101
  %145 = or i1 %143, %144
  br i1 %145, label %201, label %146

146:
  %147 = load i32, ptr %122, align 8
  %148 = sext i32 %147 to i64
  %149 = icmp samesign ult i64 %140, 64
  br i1 %149, label %150, label %153

150:
  %151 = getelementptr inbounds i64, ptr %138, i64 %140
  %152 = load i64, ptr %151, align 8
  br label %153

153:
  %154 = phi i64 [ %152, %150 ], [ 0, %146 ]
  %155 = getelementptr inbounds i8, ptr %142, i64 24
  %156 = load i64, ptr %155, align 8
  %157 = getelementptr inbounds i8, ptr %142, i64 32
  %158 = load i64, ptr %157, align 8
  %159 = icmp sgt i64 %156, %158
  br i1 %159, label %160, label %201

160:
  %161 = getelementptr inbounds i8, ptr %142, i64 568
  %162 = icmp sgt i32 %147, 0
  br label %163

163:
  %164 = phi i64 [ %156, %160 ], [ %165, %197 ]
  %165 = add nsw i64 %164, -1
  %166 = and i64 %165, 16383
  %167 = getelementptr inbounds %struct.entry, ptr %161, i64 %166
  %168 = getelementptr inbounds i8, ptr %167, i64 16
  %169 = load i64, ptr %168, align 8
  %170 = ashr i64 %169, 1
  %171 = icmp sgt i64 %170, %154
  br i1 %171, label %172, label %201

172:
  br i1 %162, label %173, label %197

173:
  %174 = and i64 %169, 1
  %175 = getelementptr inbounds i8, ptr %167, i64 8
  br label %176

176:
  %177 = phi i64 [ 0, %173 ], [ %195, %194 ]
  %178 = getelementptr inbounds %struct.span, ptr %137, i64 %177
  %179 = getelementptr inbounds i8, ptr %178, i64 16
  %180 = load i64, ptr %179, align 8
  %181 = or i64 %180, %174
  %182 = icmp eq i64 %181, 0
  br i1 %182, label %194, label %183

183:
  %184 = load i64, ptr %167, align 8
  %185 = getelementptr inbounds i8, ptr %178, i64 8
  %186 = load i64, ptr %185, align 8
  %187 = icmp ult i64 %184, %186
  br i1 %187, label %188, label %194

188:
  %189 = load i64, ptr %178, align 8
  %190 = load i64, ptr %175, align 8
  %191 = icmp uge i64 %189, %190
  %192 = icmp eq i64 %189, %186
  %193 = or i1 %192, %191
  br i1 %193, label %194, label %199

194:
  %195 = add nuw nsw i64 %177, 1
  %196 = icmp eq i64 %195, %148
  br i1 %196, label %197, label %176

197:
  %198 = icmp sgt i64 %165, %158
  br i1 %198, label %163, label %201

199:
  %200 = icmp eq i64 %170, 0
  br i1 %200, label %201, label %479

201:
  %202 = add nuw nsw i64 %140, 1
  %203 = icmp eq i64 %202, %133
  br i1 %203, label %204, label %139

204:
  %205 = load i64, ptr %111, align 8
  %206 = shl i64 %128, 1
  %207 = add i64 %206, 2
  %208 = load i32, ptr %122, align 8
  %209 = icmp sgt i32 %208, 0
  br i1 %209, label %210, label %233

210:
  %211 = getelementptr inbounds i8, ptr %3, i64 1280
  %212 = getelementptr inbounds i8, ptr %101, i64 568
  %213 = zext nneg i32 %208 to i64
  br label %214

214:
  %215 = phi i64 [ 0, %210 ], [ %231, %214 ]
  %216 = phi i64 [ %205, %210 ], [ %230, %214 ]
  %217 = getelementptr inbounds %struct.span, ptr %211, i64 %215
  %218 = and i64 %216, 16383
  %219 = getelementptr inbounds %struct.entry, ptr %212, i64 %218
  %220 = load i64, ptr %217, align 8
  store i64 %220, ptr %219, align 8
  %221 = getelementptr inbounds i8, ptr %217, i64 8
  %222 = load i64, ptr %221, align 8
  %223 = getelementptr inbounds i8, ptr %219, i64 8
  store i64 %222, ptr %223, align 8
  %224 = getelementptr inbounds i8, ptr %217, i64 16
  %225 = load i64, ptr %224, align 8
  %226 = or i64 %225, %207
  %227 = getelementptr inbounds i8, ptr %219, i64 16
  store i64 %226, ptr %227, align 8
  %228 = icmp ne i64 %220, %222
  %229 = zext i1 %228 to i64
  %230 = add nsw i64 %216, %229
  %231 = add nuw nsw i64 %215, 1
  %232 = icmp eq i64 %231, %213
  br i1 %232, label %233, label %214

233:
  %234 = phi i64 [ %205, %204 ], [ %230, %214 ]
  store i64 %234, ptr %111, align 8
  %235 = add nsw i64 %128, 1
  store i64 %235, ptr %129, align 8
  br label %236

236:
  %237 = phi i64 [ %112, %233 ], [ 0, %86 ]
  %238 = phi ptr [ %101, %233 ], [ null, %86 ]
  %239 = getelementptr inbounds i8, ptr %3, i64 2308
  %240 = load i32, ptr %239, align 4
  %241 = icmp sgt i32 %240, 0
  br i1 %241, label %242, label %245

242:
  %243 = getelementptr inbounds i8, ptr %3, i64 2048
  %244 = zext nneg i32 %240 to i64
  br label %251

245:
  %246 = getelementptr inbounds i8, ptr %0, i64 4
  %247 = load i32, ptr %246, align 4
  %248 = icmp sgt i32 %247, 0
  br i1 %248, label %249, label %259

249:
  %250 = zext nneg i32 %247 to i64
  br label %263

251:
  %252 = phi i64 [ 0, %242 ], [ %257, %251 ]
  %253 = getelementptr inbounds ptr, ptr %243, i64 %252
  %254 = load ptr, ptr %253, align 8
  %255 = load i64, ptr %254, align 8
  %256 = add nsw i64 %255, 1
  store i64 %256, ptr %254, align 8
  %257 = add nuw nsw i64 %252, 1
  %258 = icmp eq i64 %257, %244
  br i1 %258, label %245, label %251

259:
  %260 = getelementptr inbounds i8, ptr %0, i64 48
  %261 = load i32, ptr %260, align 8
  %262 = icmp eq i32 %261, 0
  br i1 %262, label %277, label %269

263:
  %264 = phi i64 [ 0, %249 ], [ %267, %263 ]
  %265 = getelementptr inbounds i64, ptr %3, i64 %264
  %266 = getelementptr inbounds ptr, ptr %11, i64 %264
  store ptr %265, ptr %266, align 8
  %267 = add nuw nsw i64 %264, 1
  %268 = icmp eq i64 %267, %250
  br i1 %268, label %259, label %263

269:
  %270 = load ptr, ptr @runtime, align 8
  %271 = getelementptr inbounds i8, ptr %270, i64 136
  %272 = load ptr, ptr %271, align 8
  call void %272(ptr %1)
  %273 = load ptr, ptr @runtime, align 8
  %274 = getelementptr inbounds i8, ptr %273, i64 168
  %275 = load ptr, ptr %274, align 8
  %276 = call ptr %275()
  br label %277

277:
  %278 = phi ptr [ %276, %269 ], [ null, %259 ]
  %279 = load ptr, ptr %74, align 8
  %280 = icmp eq ptr %279, null
  %281 = load ptr, ptr %12, align 8
  br i1 %280, label %360, label %282

282:
  %283 = getelementptr inbounds i8, ptr %279, i64 32
  %284 = load ptr, ptr %283, align 8
  %285 = getelementptr inbounds i8, ptr %279, i64 20
  %286 = load i32, ptr %285, align 4
  %287 = sext i32 %286 to i64
  %288 = getelementptr inbounds i64, ptr %3, i64 %287
  %289 = getelementptr inbounds i8, ptr %279, i64 24
  %290 = load i64, ptr %289, align 8
  %291 = call i32 %284(ptr %288, i64 %290, ptr %281)
  %292 = icmp eq i32 %291, 0
  br i1 %292, label %293, label %380

293:
  %294 = load i32, ptr %285, align 4
  %295 = sext i32 %294 to i64
  %296 = getelementptr inbounds i64, ptr %3, i64 %295
  %297 = load i64, ptr %296, align 8
  %298 = getelementptr inbounds i8, ptr %0, i64 80
  %299 = load ptr, ptr %298, align 8
  %300 = getelementptr inbounds i8, ptr %0, i64 56
  %301 = load ptr, ptr %300, align 8
  %302 = getelementptr inbounds i8, ptr %0, i64 16
  %303 = load i32, ptr %302, align 8
  %304 = getelementptr inbounds i8, ptr %0, i64 20
  %305 = load i32, ptr %304, align 4
  %306 = getelementptr inbounds i8, ptr %0, i64 24
  %307 = load i32, ptr %306, align 8
  %308 = getelementptr inbounds i8, ptr %0, i64 28
  %309 = load i32, ptr %308, align 4
  %310 = getelementptr inbounds i8, ptr %0, i64 32
  %311 = load i32, ptr %310, align 8
  %312 = getelementptr inbounds i8, ptr %0, i64 36
  %313 = load i32, ptr %312, align 4
  %314 = getelementptr inbounds i8, ptr %0, i64 40
  %315 = load i32, ptr %314, align 8
  %316 = call i32 %299(ptr %301, i32 %303, i32 %305, i32 %307, i32 %309, i32 %311, i32 %313, i32 %315, ptr %281, ptr %11, ptr null)
  %317 = icmp eq i32 %316, 0
  br i1 %317, label %318, label %355

318:
  %319 = load ptr, ptr %74, align 8
  %320 = getelementptr inbounds i8, ptr %319, i64 56
  %321 = load ptr, ptr %320, align 8
  %322 = icmp eq ptr %321, null
  br i1 %322, label %323, label %337

323:
  %324 = load ptr, ptr %298, align 8
  %325 = load ptr, ptr %319, align 8
  %326 = getelementptr inbounds i8, ptr %319, i64 8
  %327 = load i32, ptr %326, align 8
  %328 = getelementptr inbounds i8, ptr %319, i64 12
  %329 = load i32, ptr %328, align 4
  %330 = getelementptr inbounds i8, ptr %319, i64 16
  %331 = load i32, ptr %330, align 8
  %332 = load i32, ptr %308, align 4
  %333 = load i32, ptr %310, align 8
  %334 = load i32, ptr %312, align 4
  %335 = load i32, ptr %314, align 8
  %336 = call i32 %324(ptr %325, i32 %327, i32 %329, i32 %331, i32 %332, i32 %333, i32 %334, i32 %335, ptr %281, ptr %11, ptr null)
  br label %355

337:
  store i32 6, ptr %8, align 4
  %338 = getelementptr inbounds i8, ptr %8, i64 8
  store i32 1, ptr %338, align 4
  %339 = getelementptr inbounds i8, ptr %319, i64 8
  %340 = load i32, ptr %339, align 8
  store i32 %340, ptr %9, align 8
  %341 = getelementptr inbounds i8, ptr %9, i64 4
  %342 = getelementptr inbounds i8, ptr %319, i64 12
  %343 = load <2 x i32>, ptr %342, align 4
  %344 = load <2 x i32>, ptr %308, align 4
  %345 = shufflevector <2 x i32> %343, <2 x i32> %344, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x i32> %345, ptr %341, align 4
  %346 = getelementptr inbounds i8, ptr %9, i64 20
  %347 = load <2 x i32>, ptr %312, align 4
  store <2 x i32> %347, ptr %346, align 4
  %348 = getelementptr inbounds i8, ptr %9, i64 28
  store i32 0, ptr %348, align 4
  %349 = getelementptr inbounds i8, ptr %9, i64 32
  store ptr %281, ptr %349, align 8
  %350 = getelementptr inbounds i8, ptr %9, i64 40
  store ptr %8, ptr %350, align 8
  %351 = getelementptr inbounds i8, ptr %9, i64 48
  store i32 1, ptr %351, align 8
  %352 = getelementptr inbounds i8, ptr %9, i64 52
  store i32 0, ptr %352, align 4
  %353 = load ptr, ptr %319, align 8
  %354 = call i32 %321(ptr %9, ptr %353, ptr %11, ptr null)
  br label %355

355:
  %356 = phi i32 [ %336, %323 ], [ %354, %337 ], [ %316, %293 ]
  %357 = getelementptr inbounds i8, ptr %279, i64 40
  %358 = load ptr, ptr %357, align 8
  %359 = call i32 %358(i64 %297, ptr %281)
  br label %380

360:
  %361 = getelementptr inbounds i8, ptr %0, i64 80
  %362 = load ptr, ptr %361, align 8
  %363 = getelementptr inbounds i8, ptr %0, i64 56
  %364 = load ptr, ptr %363, align 8
  %365 = getelementptr inbounds i8, ptr %0, i64 16
  %366 = load i32, ptr %365, align 8
  %367 = getelementptr inbounds i8, ptr %0, i64 20
  %368 = load i32, ptr %367, align 4
  %369 = getelementptr inbounds i8, ptr %0, i64 24
  %370 = load i32, ptr %369, align 8
  %371 = getelementptr inbounds i8, ptr %0, i64 28
  %372 = load i32, ptr %371, align 4
  %373 = getelementptr inbounds i8, ptr %0, i64 32
  %374 = load i32, ptr %373, align 8
  %375 = getelementptr inbounds i8, ptr %0, i64 36
  %376 = load i32, ptr %375, align 4
  %377 = getelementptr inbounds i8, ptr %0, i64 40
  %378 = load i32, ptr %377, align 8
  %379 = call i32 %362(ptr %364, i32 %366, i32 %368, i32 %370, i32 %372, i32 %374, i32 %376, i32 %378, ptr %281, ptr %11, ptr null)
  br label %380

380:
  %381 = phi i1 [ false, %360 ], [ %317, %355 ], [ false, %282 ]
  %382 = phi i32 [ %379, %360 ], [ %356, %355 ], [ %291, %282 ]
  %383 = icmp eq ptr %238, null
  br i1 %383, label %393, label %384

384:
  %385 = icmp eq i32 %382, 0
  %386 = or i1 %381, %385
  br i1 %386, label %389, label %387

387:
  %388 = getelementptr inbounds i8, ptr %238, i64 24
  store i64 %237, ptr %388, align 8
  br label %389

389:
  %390 = getelementptr inbounds i8, ptr %238, i64 16
  %391 = getelementptr inbounds i8, ptr %238, i64 8
  %392 = load i64, ptr %391, align 8
  store atomic i64 %392, ptr %390 release, align 8
  br label %393

393:
  %394 = icmp eq ptr %278, null
  br i1 %394, label %399, label %395

395:
  %396 = load ptr, ptr @runtime, align 8
  %397 = getelementptr inbounds i8, ptr %396, i64 176
  %398 = load ptr, ptr %397, align 8
  call void %398(ptr %278)
  br label %399

399:
  %400 = icmp eq i32 %382, 0
  br i1 %400, label %401, label %414

401:
  %402 = load i32, ptr %239, align 4
  %403 = icmp sgt i32 %402, 0
  br i1 %403, label %404, label %470

404:
  %405 = getelementptr inbounds i8, ptr %3, i64 2048
  %406 = zext nneg i32 %402 to i64
  br label %407

407:
  %408 = phi i64 [ 0, %404 ], [ %412, %407 ]
  %409 = getelementptr inbounds ptr, ptr %405, i64 %408
  %410 = load ptr, ptr %409, align 8
  %411 = getelementptr inbounds i8, ptr %410, i64 24
  store i32 0, ptr %411, align 8
  %412 = add nuw nsw i64 %408, 1
  %413 = icmp eq i64 %412, %406
  br i1 %413, label %470, label %407

414:
  br i1 %381, label %415, label %470

415:
  %416 = load ptr, ptr %12, align 8
  store ptr %2, ptr %7, align 16
  %417 = getelementptr inbounds i8, ptr %7, i64 8
  %418 = load ptr, ptr @runtime, align 8
  %419 = getelementptr inbounds i8, ptr %418, i64 152
  %420 = load ptr, ptr %419, align 8
  %421 = ptrtoint ptr %416 to i64
  %422 = call ptr %420(i64 %421)
  store ptr %422, ptr %417, align 8
  %423 = getelementptr inbounds i8, ptr %7, i64 16
  %424 = load ptr, ptr @runtime, align 8
  %425 = getelementptr inbounds i8, ptr %424, i64 152
  %426 = load ptr, ptr %425, align 8
  %427 = sext i32 %382 to i64
  %428 = call ptr %426(i64 %427)
  store ptr %428, ptr %423, align 16
  %429 = load ptr, ptr @runtime, align 8
  %430 = getelementptr inbounds i8, ptr %429, i64 136
  %431 = load ptr, ptr %430, align 8
  call void %431(ptr %1)
  %432 = icmp ne ptr %422, null
  %433 = icmp ne ptr %428, null
  %434 = select i1 %432, i1 %433, i1 false
  br i1 %434, label %435, label %444

435:
  %436 = load ptr, ptr @runtime, align 8
  %437 = getelementptr inbounds i8, ptr %436, i64 120
  %438 = load ptr, ptr %437, align 8
  %439 = load ptr, ptr %74, align 8
  %440 = getelementptr inbounds i8, ptr %439, i64 64
  %441 = load ptr, ptr %440, align 8
  %442 = call ptr %438(ptr %441, ptr %7, i64 3, ptr null)
  %443 = load ptr, ptr %417, align 8
  br label %444

444:
  %445 = phi ptr [ %443, %435 ], [ %422, %415 ]
  %446 = phi ptr [ %442, %435 ], [ null, %415 ]
  %447 = icmp eq ptr %445, null
  br i1 %447, label %452, label %448

448:
  %449 = load ptr, ptr @runtime, align 8
  %450 = getelementptr inbounds i8, ptr %449, i64 144
  %451 = load ptr, ptr %450, align 8
  call void %451(ptr %445)
  br label %452

452:
  %453 = load ptr, ptr %423, align 16
  %454 = icmp eq ptr %453, null
  br i1 %454, label %459, label %455

455:
  %456 = load ptr, ptr @runtime, align 8
  %457 = getelementptr inbounds i8, ptr %456, i64 144
  %458 = load ptr, ptr %457, align 8
  call void %458(ptr %453)
  br label %459

459:
  %460 = load ptr, ptr @runtime, align 8
  %461 = getelementptr inbounds i8, ptr %460, i64 144
  %462 = load ptr, ptr %461, align 8
  call void %462(ptr %1)
  %463 = icmp eq ptr %446, null
  br i1 %463, label %468, label %464

464:
  %465 = load ptr, ptr @runtime, align 8
  %466 = getelementptr inbounds i8, ptr %465, i64 144
  %467 = load ptr, ptr %466, align 8
  call void %467(ptr %446)
  br label %468

468:
  %469 = phi i32 [ 1, %464 ], [ 4, %459 ]
  br label %473

470:
  %471 = icmp eq i32 %382, 0
  %472 = zext i1 %471 to i32
  br label %473

473:
  %474 = phi i32 [ %469, %468 ], [ %472, %470 ]
  br i1 %394, label %479, label %475

475:
  %476 = load ptr, ptr @runtime, align 8
  %477 = getelementptr inbounds i8, ptr %476, i64 144
  %478 = load ptr, ptr %477, align 8
  call void %478(ptr %1)
  br label %479

479:
  %480 = phi i32 [ 1, %6 ], [ 0, %49 ], [ 0, %57 ], [ 0, %65 ], [ 0, %77 ], [ %474, %473 ], [ 0, %37 ], [ 0, %26 ], [ 0, %68 ], [ %474, %475 ], [ 2, %109 ], [ 3, %126 ], [ 2, %118 ], [ 2, %110 ], [ 2, %199 ]
  ret i32 %480
}

declare i64 @llvm.abs.i64(i64, i1)

declare i64 @llvm.smax.i64(i64, i64)
