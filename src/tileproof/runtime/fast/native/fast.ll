; Made by tools/build_fast.py of fast.c, whose sha256 is 719dfd1a33812ecd426829027de1f7a6ec8f8c802c467ef80fcb4981f5c7b004

%struct.seen = type { i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, ptr, ptr, i64, double, ptr, i64 }
%struct.launch = type { [160 x i64], [32 x %struct.span], [32 x ptr], i32, i32, [32 x i64], i64, i64 }
%struct.span = type { i64, i64, i64 }
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
%struct.entry = type { i64, i64, i64 }

@runtime = internal unnamed_addr global ptr null, align 8

define ptr @tileproof_fast_match(ptr readnone %0, ptr readonly %1, i64 %2) nounwind {
  %4 = alloca [32 x %struct.seen], align 16
  %5 = alloca %struct.launch, align 8
  %6 = alloca [258 x i64], align 16
  %7 = load ptr, ptr @runtime, align 8
  %8 = getelementptr inbounds i8, ptr %7, i64 136
  %9 = load ptr, ptr %8, align 8
  %10 = getelementptr inbounds i8, ptr %7, i64 224
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
  %32 = getelementptr inbounds i8, ptr %13, i64 224
  %33 = load ptr, ptr %32, align 8
  br label %120

34:
  %35 = call fastcc ptr @match_here(ptr %15, ptr %25, ptr %4, ptr %5, ptr null)
  %36 = icmp eq ptr %35, null
  br i1 %36, label %37, label %41

37:
  %38 = load ptr, ptr @runtime, align 8
  %39 = getelementptr inbounds i8, ptr %38, i64 224
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
  %104 = getelementptr inbounds i8, ptr %43, i64 224
  %105 = load ptr, ptr %104, align 8
  tail call void %103(ptr %105)
  %106 = load ptr, ptr @runtime, align 8
  %107 = getelementptr inbounds i8, ptr %106, i64 376
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
  br i1 %20, label %394, label %21

21:
  %22 = add nsw i64 %13, -8
  %23 = getelementptr inbounds i8, ptr %19, i64 %22
  %24 = load ptr, ptr %23, align 8
  %25 = getelementptr inbounds i8, ptr %12, i64 32
  %26 = load ptr, ptr %25, align 8
  %27 = icmp eq ptr %24, %26
  br i1 %27, label %28, label %394

28:
  %29 = getelementptr inbounds i8, ptr %19, i64 %13
  %30 = load i64, ptr %29, align 8
  %31 = icmp eq i64 %30, 0
  br i1 %31, label %394, label %32

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
  br i1 %45, label %394, label %46

46:
  %47 = getelementptr inbounds i8, ptr %12, i64 16
  %48 = load i64, ptr %47, align 8
  %49 = getelementptr inbounds i8, ptr %36, i64 %48
  %50 = getelementptr inbounds i8, ptr %49, i64 32
  %51 = load i64, ptr %50, align 8
  %52 = icmp eq i64 %51, 0
  br i1 %52, label %394, label %53

53:
  %54 = icmp eq ptr %4, null
  br i1 %54, label %265, label %55

55:
  %56 = getelementptr inbounds i8, ptr %12, i64 136
  %57 = load ptr, ptr %56, align 8
  tail call void %57(ptr %19)
  %58 = getelementptr inbounds i8, ptr %49, i64 16
  %59 = load i64, ptr %58, align 8
  %60 = getelementptr inbounds i8, ptr %49, i64 24
  %61 = load i64, ptr %60, align 8
  %62 = or i64 %61, %59
  %63 = icmp eq i64 %62, 0
  br i1 %63, label %67, label %64

64:
  %65 = tail call fastcc i32 @is_plain(ptr %49, ptr %1, i64 %15)
  %66 = icmp ne i32 %65, 0
  br label %67

67:
  %68 = phi i1 [ %66, %64 ], [ true, %55 ]
  %69 = icmp sgt i64 %15, 0
  %70 = select i1 %69, i1 %68, i1 false
  br i1 %70, label %73, label %71

71:
  %72 = phi i1 [ %68, %67 ], [ %226, %225 ]
  br i1 %72, label %230, label %390

73:
  %74 = phi i64 [ %227, %225 ], [ 0, %67 ]
  %75 = load ptr, ptr @runtime, align 8
  %76 = getelementptr inbounds i8, ptr %75, i64 8
  %77 = load i64, ptr %76, align 8
  %78 = shl nsw i64 %74, 3
  %79 = getelementptr i8, ptr %1, i64 %77
  %80 = getelementptr i8, ptr %79, i64 %78
  %81 = load ptr, ptr %80, align 8
  %82 = load i64, ptr %75, align 8
  %83 = getelementptr i8, ptr %81, i64 %82
  %84 = getelementptr i8, ptr %83, i64 -8
  %85 = load ptr, ptr %84, align 8
  %86 = getelementptr inbounds i8, ptr %75, i64 440
  %87 = getelementptr inbounds i8, ptr %75, i64 432
  %88 = load i64, ptr %87, align 8
  %89 = icmp sgt i64 %88, 0
  br i1 %89, label %93, label %225

90:
  %91 = add nuw nsw i64 %94, 1
  %92 = icmp eq i64 %91, %88
  br i1 %92, label %225, label %93

93:
  %94 = phi i64 [ %91, %90 ], [ 0, %73 ]
  %95 = getelementptr inbounds %struct.reader, ptr %86, i64 %94
  %96 = load ptr, ptr %95, align 8
  %97 = icmp eq ptr %96, %85
  br i1 %97, label %98, label %90

98:
  %99 = getelementptr inbounds i8, ptr %95, i64 8
  %100 = load i64, ptr %99, align 8
  %101 = icmp eq i64 %100, 1
  br i1 %101, label %102, label %225

102:
  %103 = getelementptr inbounds i8, ptr %75, i64 384
  %104 = load ptr, ptr %103, align 8
  %105 = icmp eq ptr %104, null
  br i1 %105, label %390, label %106

106:
  %107 = getelementptr inbounds %struct.kept, ptr %4, i64 %74
  store ptr %81, ptr %10, align 8
  %108 = getelementptr inbounds i8, ptr %75, i64 120
  %109 = load ptr, ptr %108, align 8
  %110 = call ptr %109(ptr %104, ptr %10, i64 1, ptr null)
  store ptr %110, ptr %107, align 8
  %111 = icmp eq ptr %110, null
  br i1 %111, label %120, label %112

112:
  %113 = load ptr, ptr @runtime, align 8
  %114 = getelementptr inbounds i8, ptr %113, i64 120
  %115 = load ptr, ptr %114, align 8
  %116 = getelementptr inbounds i8, ptr %113, i64 392
  %117 = load ptr, ptr %116, align 8
  %118 = call ptr %115(ptr %117, ptr %107, i64 1, ptr null)
  store ptr %118, ptr %11, align 8
  %119 = icmp eq ptr %118, null
  br i1 %119, label %120, label %124

120:
  %121 = load ptr, ptr @runtime, align 8
  %122 = getelementptr inbounds i8, ptr %121, i64 160
  %123 = load ptr, ptr %122, align 8
  call void %123()
  br label %223

124:
  %125 = load ptr, ptr @runtime, align 8
  %126 = getelementptr inbounds i8, ptr %125, i64 120
  %127 = load ptr, ptr %126, align 8
  %128 = getelementptr inbounds i8, ptr %125, i64 416
  %129 = load ptr, ptr %128, align 8
  %130 = call ptr %127(ptr %129, ptr %11, i64 1, ptr null)
  %131 = icmp eq ptr %130, null
  %132 = load ptr, ptr @runtime, align 8
  br i1 %131, label %133, label %136

133:
  %134 = getelementptr inbounds i8, ptr %132, i64 160
  %135 = load ptr, ptr %134, align 8
  call void %135()
  br label %139

136:
  %137 = getelementptr inbounds i8, ptr %132, i64 144
  %138 = load ptr, ptr %137, align 8
  call void %138(ptr %130)
  br label %139

139:
  %140 = load ptr, ptr @runtime, align 8
  %141 = getelementptr inbounds i8, ptr %140, i64 88
  %142 = load ptr, ptr %141, align 8
  %143 = icmp eq ptr %130, %142
  br i1 %143, label %144, label %212

144:
  %145 = getelementptr inbounds i8, ptr %140, i64 400
  %146 = load ptr, ptr %145, align 8
  %147 = load ptr, ptr %11, align 8
  store ptr %147, ptr %8, align 8
  %148 = getelementptr inbounds i8, ptr %140, i64 120
  %149 = load ptr, ptr %148, align 8
  %150 = call ptr %149(ptr %146, ptr %8, i64 1, ptr null)
  store i32 1, ptr %9, align 4
  %151 = icmp eq ptr %150, null
  %152 = load ptr, ptr @runtime, align 8
  br i1 %151, label %153, label %156

153:
  %154 = getelementptr inbounds i8, ptr %152, i64 160
  %155 = load ptr, ptr %154, align 8
  call void %155()
  br label %212

156:
  %157 = load i64, ptr %152, align 8
  %158 = getelementptr i8, ptr %150, i64 %157
  %159 = getelementptr i8, ptr %158, i64 -8
  %160 = load ptr, ptr %159, align 8
  %161 = getelementptr inbounds i8, ptr %152, i64 48
  %162 = load ptr, ptr %161, align 8
  %163 = icmp eq ptr %160, %162
  br i1 %163, label %164, label %169

164:
  %165 = getelementptr inbounds i8, ptr %152, i64 96
  %166 = load ptr, ptr %165, align 8
  %167 = call i64 %166(ptr %150, ptr %9)
  %168 = load ptr, ptr @runtime, align 8
  br label %169

169:
  %170 = phi i64 [ %167, %164 ], [ 0, %156 ]
  %171 = phi ptr [ %168, %164 ], [ %152, %156 ]
  %172 = getelementptr inbounds i8, ptr %171, i64 144
  %173 = load ptr, ptr %172, align 8
  call void %173(ptr %150)
  %174 = load i32, ptr %9, align 4
  %175 = icmp eq i32 %174, 0
  br i1 %175, label %176, label %212

176:
  %177 = load ptr, ptr @runtime, align 8
  %178 = getelementptr inbounds i8, ptr %177, i64 408
  %179 = load ptr, ptr %178, align 8
  %180 = load ptr, ptr %11, align 8
  store ptr %180, ptr %6, align 8
  %181 = getelementptr inbounds i8, ptr %177, i64 120
  %182 = load ptr, ptr %181, align 8
  %183 = call ptr %182(ptr %179, ptr %6, i64 1, ptr null)
  store i32 1, ptr %7, align 4
  %184 = icmp eq ptr %183, null
  %185 = load ptr, ptr @runtime, align 8
  br i1 %184, label %186, label %189

186:
  %187 = getelementptr inbounds i8, ptr %185, i64 160
  %188 = load ptr, ptr %187, align 8
  call void %188()
  br label %209

189:
  %190 = load i64, ptr %185, align 8
  %191 = getelementptr i8, ptr %183, i64 %190
  %192 = getelementptr i8, ptr %191, i64 -8
  %193 = load ptr, ptr %192, align 8
  %194 = getelementptr inbounds i8, ptr %185, i64 48
  %195 = load ptr, ptr %194, align 8
  %196 = icmp eq ptr %193, %195
  br i1 %196, label %197, label %202

197:
  %198 = getelementptr inbounds i8, ptr %185, i64 96
  %199 = load ptr, ptr %198, align 8
  %200 = call i64 %199(ptr %183, ptr %7)
  %201 = load ptr, ptr @runtime, align 8
  br label %202

202:
  %203 = phi i64 [ %200, %197 ], [ 0, %189 ]
  %204 = phi ptr [ %201, %197 ], [ %185, %189 ]
  %205 = getelementptr inbounds i8, ptr %204, i64 144
  %206 = load ptr, ptr %205, align 8
  call void %206(ptr %183)
  %207 = load i32, ptr %7, align 4
  %208 = icmp eq i32 %207, 0
  br label %209

209:
  %210 = phi i64 [ 0, %186 ], [ %203, %202 ]
  %211 = phi i1 [ false, %186 ], [ %208, %202 ]
  br label %212

212:
  %213 = phi i64 [ 0, %139 ], [ %170, %169 ], [ %170, %209 ], [ 0, %153 ]
  %214 = phi i64 [ 0, %139 ], [ 0, %169 ], [ %210, %209 ], [ 0, %153 ]
  %215 = phi i1 [ false, %139 ], [ false, %169 ], [ %211, %209 ], [ false, %153 ]
  %216 = load ptr, ptr @runtime, align 8
  %217 = getelementptr inbounds i8, ptr %216, i64 144
  %218 = load ptr, ptr %217, align 8
  %219 = load ptr, ptr %11, align 8
  call void %218(ptr %219)
  %220 = getelementptr inbounds i8, ptr %107, i64 8
  store i64 %213, ptr %220, align 8
  %221 = add i64 %214, %213
  %222 = getelementptr inbounds i8, ptr %107, i64 16
  store i64 %221, ptr %222, align 8
  br label %223

223:
  %224 = phi i1 [ %215, %212 ], [ false, %120 ]
  br label %225

225:
  %226 = phi i1 [ true, %98 ], [ true, %73 ], [ %224, %223 ], [ true, %90 ]
  %227 = add nuw nsw i64 %74, 1
  %228 = icmp slt i64 %227, %15
  %229 = select i1 %228, i1 %226, i1 false
  br i1 %229, label %73, label %71

230:
  %231 = load ptr, ptr @runtime, align 8
  %232 = getelementptr inbounds i8, ptr %231, i64 24
  %233 = load i64, ptr %232, align 8
  %234 = getelementptr inbounds i8, ptr %0, i64 %233
  %235 = load ptr, ptr %234, align 8
  %236 = icmp eq ptr %235, null
  br i1 %236, label %260, label %237

237:
  %238 = load i64, ptr %231, align 8
  %239 = add nsw i64 %238, -8
  %240 = getelementptr inbounds i8, ptr %235, i64 %239
  %241 = load ptr, ptr %240, align 8
  %242 = getelementptr inbounds i8, ptr %231, i64 32
  %243 = load ptr, ptr %242, align 8
  %244 = icmp eq ptr %241, %243
  br i1 %244, label %245, label %260

245:
  %246 = getelementptr inbounds i8, ptr %235, i64 %238
  %247 = load i64, ptr %246, align 8
  %248 = icmp eq i64 %247, 0
  br i1 %248, label %260, label %249

249:
  %250 = getelementptr inbounds i8, ptr %231, i64 8
  %251 = load i64, ptr %250, align 8
  %252 = getelementptr inbounds i8, ptr %235, i64 %251
  %253 = load ptr, ptr %252, align 8
  %254 = getelementptr inbounds i8, ptr %253, i64 %239
  %255 = load ptr, ptr %254, align 8
  %256 = getelementptr inbounds i8, ptr %231, i64 40
  %257 = load ptr, ptr %256, align 8
  %258 = icmp eq ptr %255, %257
  %259 = select i1 %258, ptr %235, ptr null
  br label %260

260:
  %261 = phi ptr [ %259, %249 ], [ null, %245 ], [ null, %237 ], [ null, %230 ]
  %262 = icmp eq ptr %261, %42
  %263 = getelementptr inbounds i8, ptr %231, i64 144
  %264 = load ptr, ptr %263, align 8
  call void %264(ptr %42)
  br i1 %262, label %265, label %394

265:
  %266 = icmp sgt i64 %15, 0
  br i1 %266, label %267, label %357

267:
  %268 = phi i64 [ %355, %354 ], [ 0, %265 ]
  br i1 %54, label %273, label %269

269:
  %270 = getelementptr inbounds %struct.kept, ptr %4, i64 %268
  %271 = load ptr, ptr %270, align 8
  %272 = icmp eq ptr %271, null
  br i1 %272, label %273, label %280

273:
  %274 = load ptr, ptr @runtime, align 8
  %275 = getelementptr inbounds i8, ptr %274, i64 8
  %276 = load i64, ptr %275, align 8
  %277 = shl nsw i64 %268, 3
  %278 = getelementptr i8, ptr %1, i64 %276
  %279 = getelementptr i8, ptr %278, i64 %277
  br label %280

280:
  %281 = phi i1 [ false, %273 ], [ true, %269 ]
  %282 = phi ptr [ %279, %273 ], [ %270, %269 ]
  %283 = load ptr, ptr %282, align 8
  %284 = getelementptr inbounds %struct.seen, ptr %2, i64 %268
  %285 = call fastcc i32 @read(ptr %283, ptr %284)
  %286 = icmp eq i32 %285, 0
  br i1 %286, label %394, label %287

287:
  br i1 %281, label %288, label %354

288:
  %289 = getelementptr inbounds %struct.kept, ptr %4, i64 %268
  %290 = getelementptr inbounds i8, ptr %284, i64 32
  %291 = load i64, ptr %290, align 8
  %292 = lshr i64 %291, 11
  %293 = and i64 %292, 31
  %294 = getelementptr inbounds i8, ptr %284, i64 16
  %295 = load i32, ptr %294, align 8
  %296 = icmp sgt i32 %295, 0
  br i1 %296, label %297, label %340

297:
  %298 = getelementptr inbounds i8, ptr %284, i64 48
  %299 = load ptr, ptr %298, align 8
  %300 = getelementptr inbounds i8, ptr %284, i64 56
  %301 = icmp ne i64 %293, 0
  %302 = zext nneg i32 %295 to i64
  br label %306

303:
  %304 = add nuw nsw i64 %307, 1
  %305 = icmp eq i64 %304, %302
  br i1 %305, label %340, label %306

306:
  %307 = phi i64 [ 0, %297 ], [ %304, %303 ]
  %308 = phi i64 [ %293, %297 ], [ %338, %303 ]
  %309 = getelementptr inbounds i64, ptr %299, i64 %307
  %310 = load i64, ptr %309, align 8
  %311 = icmp eq i64 %310, 0
  br i1 %311, label %354, label %312

312:
  %313 = load ptr, ptr %300, align 8
  %314 = getelementptr inbounds i64, ptr %313, i64 %307
  %315 = load i64, ptr %314, align 8
  %316 = call i64 @llvm.abs.i64(i64 %315, i1 true)
  %317 = icmp samesign ugt i64 %316, 2147483647
  %318 = and i1 %301, %317
  br i1 %318, label %319, label %322

319:
  %320 = udiv i64 4611686018427387904, %293
  %321 = icmp samesign ugt i64 %316, %320
  br i1 %321, label %394, label %322

322:
  %323 = mul nsw i64 %315, %293
  %324 = add nsw i64 %310, -1
  %325 = call i64 @llvm.abs.i64(i64 %323, i1 true)
  %326 = call i64 @llvm.abs.i64(i64 %324, i1 true)
  %327 = or i64 %325, %326
  %328 = icmp samesign ugt i64 %327, 2147483647
  %329 = icmp ne i64 %324, 0
  %330 = and i1 %329, %328
  br i1 %330, label %331, label %334

331:
  %332 = udiv i64 4611686018427387904, %326
  %333 = icmp samesign ugt i64 %325, %332
  br i1 %333, label %394, label %334

334:
  %335 = mul nsw i64 %323, %324
  %336 = icmp slt i64 %335, 0
  br i1 %336, label %394, label %337

337:
  %338 = add nuw nsw i64 %335, %308
  %339 = icmp ult i64 %338, 4611686018427387904
  br i1 %339, label %303, label %394

340:
  %341 = phi i64 [ %293, %288 ], [ %338, %303 ]
  %342 = getelementptr inbounds i8, ptr %284, i64 40
  %343 = load i64, ptr %342, align 8
  %344 = getelementptr inbounds i8, ptr %289, i64 8
  %345 = load i64, ptr %344, align 8
  %346 = icmp ult i64 %343, %345
  br i1 %346, label %394, label %347

347:
  %348 = getelementptr inbounds i8, ptr %289, i64 16
  %349 = load i64, ptr %348, align 8
  %350 = sub i64 %349, %343
  %351 = icmp ugt i64 %341, %350
  %352 = icmp ugt i64 %343, %349
  %353 = or i1 %352, %351
  br i1 %353, label %394, label %354

354:
  %355 = add nuw nsw i64 %268, 1
  %356 = icmp eq i64 %355, %15
  br i1 %356, label %357, label %267

357:
  %358 = getelementptr inbounds i8, ptr %49, i64 8
  %359 = load ptr, ptr %358, align 8
  %360 = load i64, ptr %359, align 8
  %361 = getelementptr inbounds i8, ptr %49, i64 40
  %362 = getelementptr inbounds ptr, ptr %361, i64 %360
  %363 = load ptr, ptr %362, align 8
  %364 = call fastcc i32 @fits(ptr %363, ptr %2, i64 %15, ptr %3)
  %365 = icmp eq i32 %364, 0
  br i1 %365, label %366, label %369

366:
  %367 = load i64, ptr %49, align 8
  %368 = icmp sgt i64 %367, 0
  br i1 %368, label %371, label %394

369:
  %370 = load ptr, ptr %362, align 8
  br label %394

371:
  %372 = phi i64 [ %387, %386 ], [ %367, %366 ]
  %373 = phi i64 [ %388, %386 ], [ 0, %366 ]
  %374 = icmp eq i64 %373, %360
  br i1 %374, label %386, label %375

375:
  %376 = getelementptr inbounds ptr, ptr %361, i64 %373
  %377 = load ptr, ptr %376, align 8
  %378 = call fastcc i32 @fits(ptr %377, ptr %2, i64 %15, ptr %3)
  %379 = icmp eq i32 %378, 0
  br i1 %379, label %380, label %382

380:
  %381 = load i64, ptr %49, align 8
  br label %386

382:
  %383 = getelementptr inbounds ptr, ptr %361, i64 %373
  %384 = load ptr, ptr %358, align 8
  store i64 %373, ptr %384, align 8
  %385 = load ptr, ptr %383, align 8
  br label %394

386:
  %387 = phi i64 [ %381, %380 ], [ %372, %371 ]
  %388 = add nuw nsw i64 %373, 1
  %389 = icmp slt i64 %388, %387
  br i1 %389, label %371, label %394

390:
  %391 = load ptr, ptr @runtime, align 8
  %392 = getelementptr inbounds i8, ptr %391, i64 144
  %393 = load ptr, ptr %392, align 8
  call void %393(ptr %42)
  br label %394

394:
  %395 = phi ptr [ null, %32 ], [ null, %46 ], [ %385, %382 ], [ null, %260 ], [ %370, %369 ], [ null, %390 ], [ null, %337 ], [ null, %5 ], [ null, %366 ], [ null, %28 ], [ null, %21 ], [ null, %386 ], [ null, %331 ], [ null, %334 ], [ null, %319 ], [ null, %280 ], [ null, %347 ], [ null, %340 ]
  ret ptr %395
}

define ptr @tileproof_fast_launch(ptr readnone %0, ptr %1, i64 %2) nounwind {
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
    i64 4, label %13
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
  %37 = icmp eq i64 %2, 4
  br i1 %37, label %38, label %83

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
  br i1 %74, label %75, label %78

75:
  %76 = load ptr, ptr %1, align 8
  %77 = load ptr, ptr %24, align 8
  br label %83

78:
  %79 = load ptr, ptr @runtime, align 8
  %80 = getelementptr inbounds i8, ptr %79, i64 112
  %81 = load ptr, ptr %80, align 8
  %82 = call ptr %81(i64 0)
  br label %109

83:
  %84 = phi ptr [ %77, %75 ], [ %25, %36 ]
  %85 = phi ptr [ %76, %75 ], [ %14, %36 ]
  %86 = call fastcc i32 @go(ptr %85, ptr %84, ptr %4)
  switch i32 %86, label %87 [
    i32 4, label %109
    i32 2, label %93
  ]

87:
  %88 = load ptr, ptr @runtime, align 8
  %89 = getelementptr inbounds i8, ptr %88, i64 112
  %90 = load ptr, ptr %89, align 8
  %91 = zext nneg i32 %86 to i64
  %92 = call ptr %90(i64 %91)
  br label %109

93:
  %94 = load ptr, ptr @runtime, align 8
  %95 = getelementptr inbounds i8, ptr %94, i64 120
  %96 = load ptr, ptr %95, align 8
  %97 = getelementptr inbounds i8, ptr %94, i64 184
  %98 = load ptr, ptr %97, align 8
  %99 = call ptr %96(ptr %98, ptr %1, i64 %2, ptr null)
  %100 = icmp eq ptr %99, null
  br i1 %100, label %101, label %109

101:
  %102 = load ptr, ptr @runtime, align 8
  %103 = getelementptr inbounds i8, ptr %102, i64 160
  %104 = load ptr, ptr %103, align 8
  call void %104()
  %105 = load ptr, ptr @runtime, align 8
  %106 = getelementptr inbounds i8, ptr %105, i64 112
  %107 = load ptr, ptr %106, align 8
  %108 = call ptr %107(i64 0)
  br label %109

109:
  %110 = phi ptr [ %35, %31 ], [ %55, %52 ], [ %66, %63 ], [ %82, %78 ], [ null, %83 ], [ %92, %87 ], [ %108, %101 ], [ %99, %93 ]
  ret ptr %110
}

define internal fastcc range(i32 0, 5) i32 @go(ptr readonly %0, ptr %1, ptr readonly %2) unnamed_addr nounwind {
  %4 = alloca [32 x %struct.seen], align 16
  %5 = alloca %struct.launch, align 8
  %6 = alloca ptr, align 8
  %7 = getelementptr inbounds i8, ptr %2, i64 20
  br label %8

8:
  %9 = phi i32 [ 0, %3 ], [ %191, %187 ]
  %10 = load ptr, ptr @runtime, align 8
  %11 = getelementptr inbounds i8, ptr %10, i64 24
  %12 = load i64, ptr %11, align 8
  %13 = getelementptr inbounds i8, ptr %0, i64 %12
  %14 = load ptr, ptr %13, align 8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %162, label %16

16:
  %17 = load i64, ptr %10, align 8
  %18 = add nsw i64 %17, -8
  %19 = getelementptr inbounds i8, ptr %14, i64 %18
  %20 = load ptr, ptr %19, align 8
  %21 = getelementptr inbounds i8, ptr %10, i64 32
  %22 = load ptr, ptr %21, align 8
  %23 = icmp eq ptr %20, %22
  br i1 %23, label %24, label %162

24:
  %25 = getelementptr inbounds i8, ptr %14, i64 %17
  %26 = load i64, ptr %25, align 8
  %27 = icmp eq i64 %26, 0
  br i1 %27, label %162, label %28

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
  br i1 %43, label %162, label %44

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
  br i1 %58, label %159, label %60

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
  br i1 %91, label %94, label %162

94:
  %95 = icmp sgt i64 %40, 0
  br i1 %95, label %102, label %131

96:
  %97 = add nuw nsw i64 %103, 1
  %98 = icmp eq i64 %97, %40
  br i1 %98, label %99, label %102

99:
  %100 = load i32, ptr %7, align 4
  %101 = icmp eq i32 %100, 0
  br i1 %101, label %119, label %131

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
  br i1 %113, label %114, label %96

114:
  %115 = getelementptr inbounds i8, ptr %111, i64 4
  %116 = load i32, ptr %115, align 4
  %117 = icmp eq i32 %116, 3
  %118 = select i1 %117, i32 2, i32 0
  br label %162

119:
  %120 = phi i64 [ %129, %128 ], [ 0, %99 ]
  %121 = getelementptr inbounds %struct.seen, ptr %4, i64 %120
  %122 = load i32, ptr %121, align 16
  %123 = icmp eq i32 %122, 4
  br i1 %123, label %124, label %128

124:
  %125 = getelementptr inbounds i8, ptr %121, i64 4
  %126 = load i32, ptr %125, align 4
  %127 = icmp eq i32 %126, 1
  br i1 %127, label %162, label %128

128:
  %129 = add nuw nsw i64 %120, 1
  %130 = icmp eq i64 %129, %40
  br i1 %130, label %131, label %119

131:
  %132 = getelementptr inbounds i8, ptr %47, i64 8
  %133 = load ptr, ptr %132, align 8
  %134 = load i64, ptr %133, align 8
  %135 = getelementptr inbounds i8, ptr %47, i64 32
  %136 = load i64, ptr %135, align 8
  %137 = icmp eq i64 %136, 0
  br i1 %137, label %138, label %162

138:
  %139 = getelementptr inbounds i8, ptr %47, i64 40
  %140 = getelementptr inbounds ptr, ptr %139, i64 %134
  %141 = load ptr, ptr %140, align 8
  %142 = call fastcc i32 @fits(ptr %141, ptr %4, i64 %40, ptr %5)
  %143 = icmp eq i32 %142, 0
  br i1 %143, label %144, label %164

144:
  %145 = load i64, ptr %47, align 8
  %146 = icmp sgt i64 %145, 0
  br i1 %146, label %147, label %162

147:
  %148 = phi i64 [ %157, %156 ], [ 0, %144 ]
  %149 = icmp eq i64 %148, %134
  br i1 %149, label %156, label %150

150:
  %151 = getelementptr inbounds ptr, ptr %139, i64 %148
  %152 = load ptr, ptr %151, align 8
  %153 = call fastcc i32 @fits(ptr %152, ptr %4, i64 %40, ptr %5)
  %154 = icmp eq i32 %153, 0
  br i1 %154, label %156, label %155

155:
  store i64 %148, ptr %133, align 8
  br label %164

156:
  %157 = add nuw nsw i64 %148, 1
  %158 = icmp eq i64 %157, %145
  br i1 %158, label %162, label %147

159:
  %160 = getelementptr inbounds i8, ptr %59, i64 144
  %161 = load ptr, ptr %160, align 8
  call void %161(ptr %14)
  br label %162

162:
  %163 = phi i32 [ 0, %124 ], [ %118, %114 ], [ 0, %156 ], [ 0, %159 ], [ 0, %16 ], [ 0, %24 ], [ 0, %8 ], [ 0, %131 ], [ 0, %144 ], [ 0, %89 ], [ 0, %28 ]
  br label %185

164:
  %165 = phi ptr [ %152, %155 ], [ %141, %138 ]
  %166 = call fastcc i32 @start(ptr %165, ptr %14, ptr %1, ptr %5, ptr readonly %2, ptr %6)
  %167 = icmp eq i32 %166, 3
  br i1 %167, label %168, label %185

168:
  %169 = load ptr, ptr %6, align 8
  %170 = getelementptr inbounds i8, ptr %169, i64 8
  %171 = load i64, ptr %170, align 8
  %172 = load ptr, ptr @runtime, align 8
  %173 = getelementptr inbounds i8, ptr %172, i64 168
  %174 = load ptr, ptr %173, align 8
  %175 = call ptr %174()
  br label %176

176:
  %177 = phi i32 [ 0, %168 ], [ %182, %176 ]
  %178 = load ptr, ptr %6, align 8
  %179 = getelementptr inbounds i8, ptr %178, i64 16
  %180 = load atomic i64, ptr %179 acquire, align 8
  %181 = icmp ne i64 %180, %171
  %182 = add nuw nsw i32 %177, 1
  %183 = icmp samesign ult i32 %177, 19999
  %184 = select i1 %181, i1 %183, i1 false
  br i1 %184, label %176, label %187

185:
  %186 = phi i32 [ %163, %162 ], [ %166, %164 ]
  br label %193

187:
  %188 = load ptr, ptr @runtime, align 8
  %189 = getelementptr inbounds i8, ptr %188, i64 176
  %190 = load ptr, ptr %189, align 8
  call void %190(ptr %175)
  %191 = add nuw nsw i32 %9, 1
  %192 = icmp eq i32 %191, 8
  br i1 %192, label %193, label %8

193:
  %194 = phi i32 [ %186, %185 ], [ 0, %187 ]
  ret i32 %194
}

define ptr @tileproof_fast_follow(ptr readonly %0, ptr %1, i64 %2) nounwind {
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
  br label %615

40:
  %41 = getelementptr inbounds i8, ptr %0, i64 %21
  %42 = load i64, ptr %41, align 8
  %43 = getelementptr inbounds i8, ptr %18, i64 8
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr i8, ptr %0, i64 %44
  %46 = getelementptr i8, ptr %45, i64 8
  %47 = load ptr, ptr %46, align 8
  store i64 0, ptr %13, align 8
  br label %48

48:
  %49 = phi i32 [ 0, %40 ], [ %55, %48 ]
  %50 = load ptr, ptr @runtime, align 8
  %51 = getelementptr inbounds i8, ptr %50, i64 256
  %52 = load ptr, ptr %51, align 8
  %53 = call i32 %52(ptr %47, ptr %13, ptr %11, ptr %12)
  %54 = icmp eq i32 %53, 0
  %55 = add nuw nsw i32 %49, 1
  br i1 %54, label %56, label %48

56:
  store i64 0, ptr %13, align 8
  %57 = load ptr, ptr @runtime, align 8
  %58 = getelementptr inbounds i8, ptr %57, i64 256
  %59 = load ptr, ptr %58, align 8
  %60 = call i32 %59(ptr %30, ptr %13, ptr %11, ptr %12)
  %61 = icmp eq i32 %60, 0
  br i1 %61, label %104, label %62

62:
  %63 = phi i32 [ %97, %96 ], [ %49, %56 ]
  %64 = load ptr, ptr %11, align 8
  %65 = load ptr, ptr @runtime, align 8
  %66 = getelementptr inbounds i8, ptr %65, i64 248
  %67 = load ptr, ptr %66, align 8
  %68 = call ptr %67(ptr %47, ptr %64)
  %69 = icmp eq ptr %68, null
  br i1 %69, label %70, label %74

70:
  %71 = load ptr, ptr @runtime, align 8
  %72 = getelementptr inbounds i8, ptr %71, i64 160
  %73 = load ptr, ptr %72, align 8
  call void %73()
  br label %103

74:
  %75 = load ptr, ptr %12, align 8
  %76 = load ptr, ptr @runtime, align 8
  %77 = load i64, ptr %76, align 8
  %78 = getelementptr i8, ptr %75, i64 %77
  %79 = getelementptr i8, ptr %78, i64 -8
  %80 = load ptr, ptr %79, align 8
  %81 = getelementptr inbounds i8, ptr %76, i64 48
  %82 = load ptr, ptr %81, align 8
  %83 = icmp eq ptr %80, %82
  br i1 %83, label %84, label %103

84:
  %85 = getelementptr inbounds i8, ptr %76, i64 96
  %86 = load ptr, ptr %85, align 8
  %87 = call i64 %86(ptr %75, ptr %14)
  %88 = load ptr, ptr @runtime, align 8
  %89 = getelementptr inbounds i8, ptr %88, i64 96
  %90 = load ptr, ptr %89, align 8
  %91 = call i64 %90(ptr %68, ptr %15)
  %92 = icmp ne i64 %87, %91
  %93 = load i32, ptr %14, align 4
  %94 = icmp ne i32 %93, 0
  %95 = select i1 %92, i1 true, i1 %94
  br i1 %95, label %103, label %96

96:
  %97 = add nsw i32 %63, -1
  %98 = load ptr, ptr @runtime, align 8
  %99 = getelementptr inbounds i8, ptr %98, i64 256
  %100 = load ptr, ptr %99, align 8
  %101 = call i32 %100(ptr %30, ptr %13, ptr %11, ptr %12)
  %102 = icmp eq i32 %101, 0
  br i1 %102, label %104, label %62

103:
  br label %596

104:
  %105 = phi i32 [ %49, %56 ], [ %97, %96 ]
  %106 = icmp eq i32 %105, 0
  br i1 %106, label %107, label %596

107:
  %108 = load ptr, ptr @runtime, align 8
  br label %112

109:
  %110 = add nuw nsw i64 %114, 1
  %111 = icmp eq i64 %110, 4
  br i1 %111, label %138, label %112

112:
  %113 = phi ptr [ %108, %107 ], [ %134, %109 ]
  %114 = phi i64 [ 0, %107 ], [ %110, %109 ]
  %115 = getelementptr inbounds i8, ptr %113, i64 264
  %116 = getelementptr inbounds ptr, ptr %115, i64 %114
  %117 = load ptr, ptr %116, align 8
  %118 = icmp eq ptr %117, null
  br i1 %118, label %138, label %119

119:
  store ptr null, ptr %10, align 8
  %120 = getelementptr inbounds i8, ptr %113, i64 240
  %121 = load ptr, ptr %120, align 8
  %122 = load ptr, ptr %116, align 8
  %123 = call i32 %121(ptr %122, ptr null, ptr %10)
  %124 = icmp eq i32 %123, 0
  %125 = load ptr, ptr @runtime, align 8
  br i1 %124, label %129, label %126

126:
  %127 = getelementptr inbounds i8, ptr %125, i64 160
  %128 = load ptr, ptr %127, align 8
  call void %128()
  br label %595

129:
  %130 = getelementptr inbounds i8, ptr %125, i64 144
  %131 = load ptr, ptr %130, align 8
  %132 = load ptr, ptr %10, align 8
  call void %131(ptr %132)
  %133 = load ptr, ptr %10, align 8
  %134 = load ptr, ptr @runtime, align 8
  %135 = getelementptr inbounds i8, ptr %134, i64 224
  %136 = load ptr, ptr %135, align 8
  %137 = icmp eq ptr %133, %136
  br i1 %137, label %109, label %595

138:
  %139 = phi ptr [ %134, %109 ], [ %113, %112 ]
  %140 = getelementptr inbounds i8, ptr %139, i64 296
  %141 = load ptr, ptr %140, align 8
  %142 = getelementptr inbounds i8, ptr %139, i64 304
  %143 = load ptr, ptr %142, align 8
  %144 = getelementptr inbounds i8, ptr %139, i64 248
  %145 = load ptr, ptr %144, align 8
  %146 = call ptr %145(ptr %141, ptr %143)
  %147 = icmp eq ptr %146, null
  br i1 %147, label %148, label %595

148:
  %149 = load ptr, ptr @runtime, align 8
  %150 = getelementptr inbounds i8, ptr %149, i64 160
  %151 = load ptr, ptr %150, align 8
  call void %151()
  %152 = icmp sgt i64 %42, 4
  br i1 %152, label %153, label %596

153:
  %154 = getelementptr inbounds i8, ptr %9, i64 2576
  %155 = getelementptr inbounds i8, ptr %9, i64 2308
  %156 = getelementptr inbounds i8, ptr %9, i64 2048
  %157 = getelementptr inbounds i8, ptr %9, i64 2568
  %158 = getelementptr inbounds i8, ptr %16, i64 16
  %159 = getelementptr inbounds i8, ptr %16, i64 20
  %160 = getelementptr inbounds i8, ptr %16, i64 8
  br label %161

161:
  %162 = phi i64 [ 4, %153 ], [ %588, %585 ]
  %163 = phi i32 [ 0, %153 ], [ %586, %585 ]
  %164 = phi i64 [ 2, %153 ], [ %587, %585 ]
  %165 = load ptr, ptr @runtime, align 8
  %166 = getelementptr inbounds i8, ptr %165, i64 8
  %167 = load i64, ptr %166, align 8
  %168 = shl nsw i64 %162, 3
  %169 = getelementptr i8, ptr %0, i64 %167
  %170 = getelementptr i8, ptr %169, i64 %168
  %171 = load ptr, ptr %170, align 8
  %172 = shl nsw i64 %164, 3
  %173 = getelementptr i8, ptr %169, i64 %172
  %174 = load ptr, ptr %173, align 8
  %175 = getelementptr i8, ptr %173, i64 8
  %176 = load ptr, ptr %175, align 8
  %177 = load i64, ptr %165, align 8
  %178 = getelementptr inbounds i8, ptr %174, i64 %177
  %179 = load i64, ptr %178, align 8
  %180 = icmp sgt i64 %179, 2
  br i1 %180, label %185, label %217

181:
  %182 = add nuw nsw i64 %189, 3
  %183 = add nuw nsw i64 %189, 5
  %184 = icmp slt i64 %183, %179
  br i1 %184, label %185, label %217

185:
  %186 = phi i64 [ %207, %181 ], [ %167, %161 ]
  %187 = phi ptr [ %205, %181 ], [ %165, %161 ]
  %188 = phi i64 [ %183, %181 ], [ 2, %161 ]
  %189 = phi i64 [ %182, %181 ], [ 0, %161 ]
  %190 = shl nsw i64 %189, 3
  %191 = getelementptr i8, ptr %174, i64 %186
  %192 = getelementptr i8, ptr %191, i64 %190
  %193 = load ptr, ptr %192, align 8
  %194 = getelementptr i8, ptr %192, i64 8
  %195 = load ptr, ptr %194, align 8
  %196 = getelementptr inbounds i8, ptr %187, i64 248
  %197 = load ptr, ptr %196, align 8
  %198 = call ptr %197(ptr %193, ptr %195)
  %199 = icmp eq ptr %198, null
  br i1 %199, label %200, label %204

200:
  %201 = load ptr, ptr @runtime, align 8
  %202 = getelementptr inbounds i8, ptr %201, i64 160
  %203 = load ptr, ptr %202, align 8
  call void %203()
  br label %204

204:
  %205 = load ptr, ptr @runtime, align 8
  %206 = getelementptr inbounds i8, ptr %205, i64 8
  %207 = load i64, ptr %206, align 8
  %208 = shl nsw i64 %188, 3
  %209 = getelementptr i8, ptr %174, i64 %207
  %210 = getelementptr i8, ptr %209, i64 %208
  %211 = load ptr, ptr %210, align 8
  %212 = getelementptr inbounds i8, ptr %205, i64 232
  %213 = load ptr, ptr %212, align 8
  %214 = icmp eq ptr %211, %213
  %215 = select i1 %214, ptr null, ptr %211
  %216 = icmp eq ptr %198, %215
  br i1 %216, label %181, label %585

217:
  %218 = phi ptr [ %165, %161 ], [ %205, %181 ]
  %219 = getelementptr inbounds i8, ptr %218, i64 224
  %220 = load ptr, ptr %219, align 8
  %221 = icmp eq ptr %176, %220
  br i1 %221, label %239, label %222

222:
  %223 = getelementptr inbounds i8, ptr %218, i64 120
  %224 = load ptr, ptr %223, align 8
  %225 = call ptr %224(ptr %176, ptr null, i64 0, ptr null)
  %226 = icmp eq ptr %225, null
  %227 = load ptr, ptr @runtime, align 8
  br i1 %226, label %228, label %231

228:
  %229 = getelementptr inbounds i8, ptr %227, i64 160
  %230 = load ptr, ptr %229, align 8
  call void %230()
  br label %234

231:
  %232 = getelementptr inbounds i8, ptr %227, i64 144
  %233 = load ptr, ptr %232, align 8
  call void %233(ptr %225)
  br label %234

234:
  %235 = load ptr, ptr @runtime, align 8
  %236 = getelementptr inbounds i8, ptr %235, i64 80
  %237 = load ptr, ptr %236, align 8
  %238 = icmp eq ptr %225, %237
  br i1 %238, label %239, label %585

239:
  %240 = phi ptr [ %218, %217 ], [ %235, %234 ]
  %241 = getelementptr inbounds i8, ptr %240, i64 24
  %242 = load i64, ptr %241, align 8
  %243 = getelementptr inbounds i8, ptr %171, i64 %242
  %244 = load ptr, ptr %243, align 8
  %245 = icmp eq ptr %244, null
  br i1 %245, label %585, label %246

246:
  %247 = load i64, ptr %240, align 8
  %248 = add nsw i64 %247, -8
  %249 = getelementptr inbounds i8, ptr %244, i64 %248
  %250 = load ptr, ptr %249, align 8
  %251 = getelementptr inbounds i8, ptr %240, i64 32
  %252 = load ptr, ptr %251, align 8
  %253 = icmp eq ptr %250, %252
  br i1 %253, label %254, label %585

254:
  %255 = getelementptr inbounds i8, ptr %244, i64 %247
  %256 = load i64, ptr %255, align 8
  %257 = icmp eq i64 %256, 0
  br i1 %257, label %585, label %258

258:
  %259 = getelementptr inbounds i8, ptr %240, i64 8
  %260 = load i64, ptr %259, align 8
  %261 = getelementptr inbounds i8, ptr %244, i64 %260
  %262 = load ptr, ptr %261, align 8
  %263 = getelementptr inbounds i8, ptr %262, i64 %248
  %264 = load ptr, ptr %263, align 8
  %265 = getelementptr inbounds i8, ptr %240, i64 40
  %266 = load ptr, ptr %265, align 8
  %267 = icmp eq ptr %264, %266
  br i1 %267, label %268, label %585

268:
  %269 = getelementptr inbounds i8, ptr %240, i64 16
  %270 = load i64, ptr %269, align 8
  %271 = getelementptr inbounds i8, ptr %262, i64 %270
  %272 = getelementptr inbounds i8, ptr %271, i64 32
  %273 = load i64, ptr %272, align 8
  %274 = icmp eq i64 %273, 0
  br i1 %274, label %432, label %275

275:
  %276 = getelementptr inbounds i8, ptr %240, i64 296
  %277 = load ptr, ptr %276, align 8
  %278 = getelementptr inbounds i8, ptr %240, i64 312
  %279 = load ptr, ptr %278, align 8
  %280 = getelementptr inbounds i8, ptr %240, i64 248
  %281 = load ptr, ptr %280, align 8
  %282 = call ptr %281(ptr %277, ptr %279)
  %283 = icmp eq ptr %282, null
  br i1 %283, label %284, label %585

284:
  %285 = load ptr, ptr @runtime, align 8
  %286 = getelementptr inbounds i8, ptr %285, i64 160
  %287 = load ptr, ptr %286, align 8
  call void %287()
  %288 = load ptr, ptr @runtime, align 8
  %289 = load i64, ptr %288, align 8
  %290 = getelementptr inbounds i8, ptr %20, i64 %289
  %291 = load i64, ptr %290, align 8
  %292 = icmp sgt i64 %291, 32
  br i1 %292, label %430, label %293

293:
  %294 = getelementptr inbounds i8, ptr %288, i64 424
  %295 = load ptr, ptr %294, align 8
  %296 = icmp eq ptr %295, null
  br i1 %296, label %430, label %297

297:
  %298 = load i64, ptr %295, align 8
  %299 = getelementptr inbounds i8, ptr %295, i64 8
  %300 = load i64, ptr %299, align 8
  %301 = or i64 %300, %298
  %302 = getelementptr inbounds i8, ptr %295, i64 16
  %303 = load i64, ptr %302, align 8
  %304 = or i64 %301, %303
  %305 = icmp eq i64 %304, 0
  br i1 %305, label %306, label %430

306:
  %307 = getelementptr inbounds i8, ptr %295, i64 32
  %308 = getelementptr inbounds i8, ptr %295, i64 24
  %309 = load i64, ptr %308, align 8
  %310 = icmp slt i64 %309, 1
  br i1 %310, label %324, label %315

311:
  %312 = add nuw nsw i64 %316, 1
  %313 = load i64, ptr %308, align 8
  %314 = icmp slt i64 %312, %313
  br i1 %314, label %315, label %324

315:
  %316 = phi i64 [ %312, %311 ], [ 0, %306 ]
  %317 = getelementptr inbounds ptr, ptr %307, i64 %316
  %318 = load ptr, ptr %317, align 8
  %319 = load atomic i64, ptr %318 acquire, align 8
  %320 = load ptr, ptr %317, align 8
  %321 = getelementptr inbounds i8, ptr %320, i64 128
  %322 = load atomic i64, ptr %321 acquire, align 8
  %323 = icmp slt i64 %319, %322
  br i1 %323, label %430, label %311

324:
  %325 = icmp sgt i64 %291, 0
  br i1 %325, label %329, label %326

326:
  %327 = call fastcc ptr @match_here(ptr readonly %171, ptr readonly %20, ptr %7, ptr %9, ptr %8)
  %328 = icmp eq ptr %327, null
  br i1 %328, label %416, label %334

329:
  %330 = phi i64 [ %332, %329 ], [ 0, %324 ]
  %331 = getelementptr inbounds %struct.kept, ptr %8, i64 %330
  store ptr null, ptr %331, align 8
  %332 = add nuw nsw i64 %330, 1
  %333 = icmp eq i64 %332, %291
  br i1 %333, label %326, label %329

334:
  %335 = getelementptr inbounds i8, ptr %327, i64 132
  %336 = load i32, ptr %335, align 4
  %337 = icmp eq i32 %336, 0
  %338 = load i64, ptr %154, align 8
  %339 = icmp ugt i64 %338, 65536
  %340 = select i1 %337, i1 true, i1 %339
  br i1 %340, label %416, label %341

341:
  %342 = load ptr, ptr @runtime, align 8
  %343 = getelementptr inbounds i8, ptr %342, i64 424
  %344 = load ptr, ptr %343, align 8
  %345 = icmp eq ptr %344, null
  br i1 %345, label %416, label %346

346:
  %347 = load i64, ptr %344, align 8
  %348 = getelementptr inbounds i8, ptr %344, i64 8
  %349 = load i64, ptr %348, align 8
  %350 = or i64 %349, %347
  %351 = getelementptr inbounds i8, ptr %344, i64 16
  %352 = load i64, ptr %351, align 8
  %353 = or i64 %350, %352
  %354 = icmp eq i64 %353, 0
  br i1 %354, label %355, label %416

355:
  %356 = getelementptr inbounds i8, ptr %344, i64 32
  %357 = getelementptr inbounds i8, ptr %344, i64 24
  %358 = load i64, ptr %357, align 8
  %359 = icmp slt i64 %358, 1
  br i1 %359, label %373, label %364

360:
  %361 = add nuw nsw i64 %365, 1
  %362 = load i64, ptr %357, align 8
  %363 = icmp slt i64 %361, %362
  br i1 %363, label %364, label %373

364:
  %365 = phi i64 [ %361, %360 ], [ 0, %355 ]
  %366 = getelementptr inbounds ptr, ptr %356, i64 %365
  %367 = load ptr, ptr %366, align 8
  %368 = load atomic i64, ptr %367 acquire, align 8
  %369 = load ptr, ptr %366, align 8
  %370 = getelementptr inbounds i8, ptr %369, i64 128
  %371 = load atomic i64, ptr %370 acquire, align 8
  %372 = icmp slt i64 %368, %371
  br i1 %372, label %416, label %360

373:
  %374 = load i32, ptr %155, align 4
  %375 = icmp sgt i32 %374, 0
  br i1 %375, label %376, label %378

376:
  %377 = zext nneg i32 %374 to i64
  br label %390

378:
  %379 = getelementptr inbounds i8, ptr %327, i64 144
  %380 = load i32, ptr %379, align 8
  %381 = sext i32 %380 to i64
  %382 = getelementptr inbounds i64, ptr %9, i64 %381
  %383 = ptrtoint ptr %382 to i64
  %384 = getelementptr inbounds i8, ptr %327, i64 148
  %385 = load i32, ptr %384, align 4
  %386 = sext i32 %385 to i64
  %387 = getelementptr inbounds i64, ptr %9, i64 %386
  store i64 %383, ptr %387, align 8
  %388 = load i64, ptr %157, align 8
  %389 = icmp sgt i64 %388, 0
  br i1 %389, label %398, label %404

390:
  %391 = phi i64 [ 0, %376 ], [ %396, %390 ]
  %392 = getelementptr inbounds ptr, ptr %156, i64 %391
  %393 = load ptr, ptr %392, align 8
  %394 = load i64, ptr %393, align 8
  %395 = add nsw i64 %394, 1
  store i64 %395, ptr %393, align 8
  %396 = add nuw nsw i64 %391, 1
  %397 = icmp eq i64 %396, %377
  br i1 %397, label %378, label %390

398:
  %399 = getelementptr inbounds i8, ptr %327, i64 56
  %400 = load ptr, ptr %399, align 8
  %401 = getelementptr inbounds i8, ptr %327, i64 200
  %402 = load ptr, ptr %401, align 8
  call void %400(ptr %387, ptr %402, i64 0, i64 %388)
  %403 = load i32, ptr %155, align 4
  br label %404

404:
  %405 = phi i32 [ %403, %398 ], [ %374, %378 ]
  %406 = icmp sgt i32 %405, 0
  br i1 %406, label %407, label %416

407:
  %408 = zext nneg i32 %405 to i64
  br label %409

409:
  %410 = phi i64 [ 0, %407 ], [ %414, %409 ]
  %411 = getelementptr inbounds ptr, ptr %156, i64 %410
  %412 = load ptr, ptr %411, align 8
  %413 = getelementptr inbounds i8, ptr %412, i64 24
  store i32 0, ptr %413, align 8
  %414 = add nuw nsw i64 %410, 1
  %415 = icmp eq i64 %414, %408
  br i1 %415, label %416, label %409

416:
  %417 = phi i1 [ true, %326 ], [ true, %334 ], [ false, %404 ], [ false, %409 ], [ true, %346 ], [ true, %341 ], [ true, %364 ]
  br i1 %325, label %418, label %431

418:
  %419 = phi i64 [ %428, %427 ], [ 0, %416 ]
  %420 = getelementptr inbounds %struct.kept, ptr %8, i64 %419
  %421 = load ptr, ptr %420, align 8
  %422 = icmp eq ptr %421, null
  br i1 %422, label %427, label %423

423:
  %424 = load ptr, ptr @runtime, align 8
  %425 = getelementptr inbounds i8, ptr %424, i64 144
  %426 = load ptr, ptr %425, align 8
  call void %426(ptr %421)
  br label %427

427:
  %428 = add nuw nsw i64 %419, 1
  %429 = icmp eq i64 %428, %291
  br i1 %429, label %431, label %418

430:
  br label %585

431:
  br i1 %417, label %585, label %596

432:
  %433 = icmp eq i32 %163, 0
  br i1 %433, label %434, label %582

434:
  %435 = getelementptr inbounds i8, ptr %240, i64 320
  %436 = load ptr, ptr %435, align 8
  %437 = getelementptr inbounds i8, ptr %240, i64 328
  %438 = load ptr, ptr %437, align 8
  %439 = getelementptr inbounds i8, ptr %240, i64 248
  %440 = load ptr, ptr %439, align 8
  %441 = call ptr %440(ptr %436, ptr %438)
  %442 = icmp eq ptr %441, null
  br i1 %442, label %449, label %443

443:
  store ptr null, ptr %6, align 8
  %444 = load ptr, ptr @runtime, align 8
  %445 = getelementptr inbounds i8, ptr %444, i64 360
  %446 = load ptr, ptr %445, align 8
  %447 = icmp eq ptr %441, %446
  %448 = zext i1 %447 to i32
  store i32 %448, ptr %158, align 8
  br i1 %447, label %467, label %578

449:
  %450 = load ptr, ptr @runtime, align 8
  %451 = getelementptr inbounds i8, ptr %450, i64 160
  %452 = load ptr, ptr %451, align 8
  call void %452()
  store ptr null, ptr %6, align 8
  store i32 0, ptr %158, align 8
  %453 = load ptr, ptr @runtime, align 8
  %454 = getelementptr inbounds i8, ptr %453, i64 320
  %455 = load ptr, ptr %454, align 8
  %456 = getelementptr inbounds i8, ptr %453, i64 336
  %457 = load ptr, ptr %456, align 8
  %458 = getelementptr inbounds i8, ptr %453, i64 248
  %459 = load ptr, ptr %458, align 8
  %460 = call ptr %459(ptr %455, ptr %457)
  %461 = icmp eq ptr %460, null
  br i1 %461, label %462, label %578

462:
  %463 = load ptr, ptr @runtime, align 8
  %464 = getelementptr inbounds i8, ptr %463, i64 160
  %465 = load ptr, ptr %464, align 8
  call void %465()
  %466 = load ptr, ptr @runtime, align 8
  br label %467

467:
  %468 = phi ptr [ %466, %462 ], [ %444, %443 ]
  %469 = getelementptr inbounds i8, ptr %468, i64 240
  %470 = load ptr, ptr %469, align 8
  %471 = getelementptr inbounds i8, ptr %468, i64 368
  %472 = load ptr, ptr %471, align 8
  %473 = call i32 %470(ptr %472, ptr null, ptr %6)
  %474 = icmp eq i32 %473, 0
  br i1 %474, label %479, label %475

475:
  %476 = load ptr, ptr @runtime, align 8
  %477 = getelementptr inbounds i8, ptr %476, i64 160
  %478 = load ptr, ptr %477, align 8
  call void %478()
  br label %578

479:
  %480 = load ptr, ptr %6, align 8
  %481 = load ptr, ptr @runtime, align 8
  %482 = load i64, ptr %481, align 8
  %483 = getelementptr i8, ptr %480, i64 %482
  %484 = getelementptr i8, ptr %483, i64 -8
  %485 = load ptr, ptr %484, align 8
  %486 = getelementptr inbounds i8, ptr %481, i64 32
  %487 = load ptr, ptr %486, align 8
  %488 = icmp eq ptr %485, %487
  br i1 %488, label %490, label %489

489:
  store i32 0, ptr %159, align 4
  store i64 -1, ptr %16, align 8
  br label %503

490:
  %491 = load i64, ptr %483, align 8
  %492 = icmp eq i64 %491, 0
  %493 = zext i1 %492 to i32
  store i32 %493, ptr %159, align 4
  store i64 -1, ptr %16, align 8
  br i1 %492, label %579, label %494

494:
  %495 = icmp sgt i64 %491, 0
  br i1 %495, label %496, label %503

496:
  %497 = getelementptr inbounds i8, ptr %481, i64 8
  %498 = load i64, ptr %497, align 8
  %499 = shl i64 %491, 3
  %500 = getelementptr i8, ptr %480, i64 %498
  %501 = getelementptr i8, ptr %500, i64 %499
  %502 = getelementptr i8, ptr %501, i64 -8
  br label %505

503:
  %504 = getelementptr inbounds i8, ptr %481, i64 224
  br label %505

505:
  %506 = phi ptr [ %502, %496 ], [ %504, %503 ]
  %507 = load ptr, ptr %506, align 8
  %508 = getelementptr inbounds i8, ptr %481, i64 344
  %509 = load ptr, ptr %508, align 8
  %510 = getelementptr inbounds i8, ptr %481, i64 128
  %511 = load ptr, ptr %510, align 8
  %512 = call ptr %511(ptr %507, ptr %509)
  store i32 1, ptr %5, align 4
  %513 = icmp eq ptr %512, null
  %514 = load ptr, ptr @runtime, align 8
  br i1 %513, label %515, label %518

515:
  %516 = getelementptr inbounds i8, ptr %514, i64 160
  %517 = load ptr, ptr %516, align 8
  call void %517()
  br label %590

518:
  %519 = load i64, ptr %514, align 8
  %520 = getelementptr i8, ptr %512, i64 %519
  %521 = getelementptr i8, ptr %520, i64 -8
  %522 = load ptr, ptr %521, align 8
  %523 = getelementptr inbounds i8, ptr %514, i64 48
  %524 = load ptr, ptr %523, align 8
  %525 = icmp eq ptr %522, %524
  br i1 %525, label %526, label %531

526:
  %527 = getelementptr inbounds i8, ptr %514, i64 96
  %528 = load ptr, ptr %527, align 8
  %529 = call i64 %528(ptr %512, ptr %5)
  store i64 %529, ptr %16, align 8
  %530 = load ptr, ptr @runtime, align 8
  br label %531

531:
  %532 = phi ptr [ %530, %526 ], [ %514, %518 ]
  %533 = getelementptr inbounds i8, ptr %532, i64 144
  %534 = load ptr, ptr %533, align 8
  call void %534(ptr %512)
  %535 = load i32, ptr %5, align 4
  %536 = icmp eq i32 %535, 0
  br i1 %536, label %537, label %590

537:
  %538 = load ptr, ptr @runtime, align 8
  %539 = getelementptr inbounds i8, ptr %538, i64 352
  %540 = load ptr, ptr %539, align 8
  %541 = getelementptr inbounds i8, ptr %538, i64 128
  %542 = load ptr, ptr %541, align 8
  %543 = call ptr %542(ptr %507, ptr %540)
  store i32 1, ptr %4, align 4
  %544 = icmp eq ptr %543, null
  %545 = load ptr, ptr @runtime, align 8
  br i1 %544, label %546, label %553

546:
  %547 = getelementptr inbounds i8, ptr %545, i64 160
  %548 = load ptr, ptr %547, align 8
  call void %548()
  %549 = load ptr, ptr @runtime, align 8
  %550 = getelementptr inbounds i8, ptr %549, i64 144
  %551 = load ptr, ptr %550, align 8
  %552 = load ptr, ptr %6, align 8
  call void %551(ptr %552)
  br label %595

553:
  %554 = load i64, ptr %545, align 8
  %555 = getelementptr i8, ptr %543, i64 %554
  %556 = getelementptr i8, ptr %555, i64 -8
  %557 = load ptr, ptr %556, align 8
  %558 = getelementptr inbounds i8, ptr %545, i64 48
  %559 = load ptr, ptr %558, align 8
  %560 = icmp eq ptr %557, %559
  br i1 %560, label %561, label %567

561:
  %562 = getelementptr inbounds i8, ptr %545, i64 96
  %563 = load ptr, ptr %562, align 8
  %564 = call i64 %563(ptr %543, ptr %4)
  %565 = load ptr, ptr @runtime, align 8
  %566 = inttoptr i64 %564 to ptr
  br label %567

567:
  %568 = phi ptr [ %566, %561 ], [ null, %553 ]
  %569 = phi ptr [ %565, %561 ], [ %545, %553 ]
  %570 = getelementptr inbounds i8, ptr %569, i64 144
  %571 = load ptr, ptr %570, align 8
  call void %571(ptr %543)
  %572 = load i32, ptr %4, align 4
  %573 = icmp eq i32 %572, 0
  store ptr %568, ptr %160, align 8
  %574 = load ptr, ptr @runtime, align 8
  %575 = getelementptr inbounds i8, ptr %574, i64 144
  %576 = load ptr, ptr %575, align 8
  %577 = load ptr, ptr %6, align 8
  call void %576(ptr %577)
  br i1 %573, label %582, label %595

578:
  br label %595

579:
  store ptr null, ptr %160, align 8
  %580 = getelementptr inbounds i8, ptr %481, i64 144
  %581 = load ptr, ptr %580, align 8
  call void %581(ptr %480)
  br label %582

582:
  %583 = call fastcc i32 @go(ptr %171, ptr %20, ptr %16)
  %584 = icmp eq i32 %583, 0
  br i1 %584, label %585, label %598

585:
  %586 = phi i32 [ %163, %431 ], [ %163, %234 ], [ 1, %582 ], [ %163, %239 ], [ %163, %258 ], [ %163, %254 ], [ %163, %246 ], [ %163, %430 ], [ %163, %275 ], [ %163, %204 ]
  %587 = add nuw nsw i64 %164, 3
  %588 = add nuw nsw i64 %164, 5
  %589 = icmp slt i64 %588, %42
  br i1 %589, label %161, label %596

590:
  %591 = load ptr, ptr @runtime, align 8
  %592 = getelementptr inbounds i8, ptr %591, i64 144
  %593 = load ptr, ptr %592, align 8
  %594 = load ptr, ptr %6, align 8
  call void %593(ptr %594)
  br label %595

595:
  br label %606

596:
  %597 = phi i32 [ 0, %148 ], [ 0, %103 ], [ 0, %104 ], [ 1, %431 ], [ 0, %585 ]
  br label %599

598:
  switch i32 %583, label %599 [
    i32 4, label %615
    i32 2, label %606
  ]

599:
  %600 = phi i32 [ %597, %596 ], [ %583, %598 ]
  %601 = load ptr, ptr @runtime, align 8
  %602 = getelementptr inbounds i8, ptr %601, i64 112
  %603 = load ptr, ptr %602, align 8
  %604 = zext nneg i32 %600 to i64
  %605 = call ptr %603(i64 %604)
  br label %615

606:
  %607 = load ptr, ptr @runtime, align 8
  %608 = getelementptr inbounds i8, ptr %607, i64 120
  %609 = load ptr, ptr %608, align 8
  %610 = getelementptr inbounds i8, ptr %607, i64 8
  %611 = load i64, ptr %610, align 8
  %612 = getelementptr inbounds i8, ptr %0, i64 %611
  %613 = load ptr, ptr %612, align 8
  %614 = call ptr %609(ptr %613, ptr %1, i64 2, ptr null)
  br label %615

615:
  %616 = phi ptr [ %39, %36 ], [ %614, %606 ], [ %605, %599 ], [ null, %598 ]
  ret ptr %616
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
  %43 = getelementptr inbounds i8, ptr %5, i64 440
  %44 = getelementptr inbounds i8, ptr %5, i64 432
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

define void @tileproof_fast_use(ptr %0, ptr initializes((0, 104)) %1) nounwind {
  store ptr %0, ptr @runtime, align 8
  store i64 824, ptr %1, align 8
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
  store i64 98360, ptr %9, align 8
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
  %34 = getelementptr inbounds i8, ptr %23, i64 440
  %35 = getelementptr inbounds i8, ptr %23, i64 432
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
  %55 = getelementptr inbounds i8, ptr %23, i64 208
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
  %80 = getelementptr inbounds i8, ptr %72, i64 200
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
  %110 = getelementptr inbounds i8, ptr %107, i64 192
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
  br i1 %18, label %396, label %19

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
  br i1 %30, label %31, label %396

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
  %39 = getelementptr inbounds i8, ptr %38, i64 216
  %40 = load ptr, ptr %39, align 8
  %41 = icmp eq ptr %40, null
  br i1 %41, label %396, label %42

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
  br label %396

53:
  %54 = getelementptr inbounds i8, ptr %4, i64 20
  %55 = load i32, ptr %54, align 4
  %56 = icmp eq i32 %55, 0
  br i1 %56, label %57, label %61

57:
  %58 = load ptr, ptr %12, align 8
  %59 = load ptr, ptr %32, align 8
  %60 = icmp eq ptr %58, %59
  br i1 %60, label %61, label %396

61:
  %62 = getelementptr inbounds i8, ptr %0, i64 88
  %63 = load ptr, ptr %62, align 8
  %64 = icmp eq ptr %63, null
  br i1 %64, label %73, label %65

65:
  %66 = call i32 %63(ptr %13)
  %67 = icmp eq i32 %66, 0
  br i1 %67, label %68, label %396

68:
  %69 = load ptr, ptr %13, align 8
  %70 = getelementptr inbounds i8, ptr %0, i64 72
  %71 = load ptr, ptr %70, align 8
  %72 = icmp eq ptr %69, %71
  br i1 %72, label %73, label %396

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
  br i1 %85, label %86, label %396

86:
  %87 = getelementptr inbounds i8, ptr %0, i64 112
  %88 = load ptr, ptr %87, align 8
  %89 = icmp eq ptr %88, null
  br i1 %89, label %153, label %90

90:
  %91 = load ptr, ptr %88, align 8
  store ptr %91, ptr %5, align 8
  %92 = icmp eq ptr %91, null
  br i1 %92, label %396, label %93

93:
  %94 = getelementptr inbounds i8, ptr %91, i64 24
  %95 = load i64, ptr %94, align 8
  %96 = load ptr, ptr %12, align 8
  %97 = load ptr, ptr %91, align 8
  %98 = icmp eq ptr %97, %96
  br i1 %98, label %99, label %396

99:
  %100 = getelementptr inbounds i8, ptr %91, i64 48
  %101 = load i32, ptr %100, align 8
  %102 = icmp eq i32 %101, 0
  br i1 %102, label %103, label %396

103:
  %104 = getelementptr inbounds i8, ptr %91, i64 40
  %105 = load i64, ptr %104, align 8
  %106 = sub nsw i64 %105, %95
  %107 = getelementptr inbounds i8, ptr %3, i64 2304
  %108 = load i32, ptr %107, align 8
  %109 = sext i32 %108 to i64
  %110 = icmp slt i64 %106, %109
  br i1 %110, label %396, label %111

111:
  %112 = getelementptr inbounds i8, ptr %91, i64 16
  %113 = load atomic i64, ptr %112 acquire, align 8
  %114 = getelementptr inbounds i8, ptr %91, i64 8
  %115 = load i64, ptr %114, align 8
  %116 = icmp eq i64 %113, %115
  br i1 %116, label %117, label %396

117:
  %118 = getelementptr inbounds i8, ptr %91, i64 52
  %119 = load i32, ptr %118, align 4
  %120 = icmp eq i32 %119, 0
  br i1 %120, label %121, label %396

121:
  %122 = load i64, ptr %94, align 8
  %123 = shl i64 %113, 1
  %124 = add i64 %123, 2
  %125 = load i32, ptr %107, align 8
  %126 = icmp sgt i32 %125, 0
  br i1 %126, label %127, label %150

127:
  %128 = getelementptr inbounds i8, ptr %3, i64 1280
  %129 = getelementptr inbounds i8, ptr %91, i64 56
  %130 = zext nneg i32 %125 to i64
  br label %131

131:
  %132 = phi i64 [ 0, %127 ], [ %148, %131 ]
  %133 = phi i64 [ %122, %127 ], [ %147, %131 ]
  %134 = getelementptr inbounds %struct.span, ptr %128, i64 %132
  %135 = and i64 %133, 4095
  %136 = getelementptr inbounds %struct.entry, ptr %129, i64 %135
  %137 = load i64, ptr %134, align 8
  store i64 %137, ptr %136, align 8
  %138 = getelementptr inbounds i8, ptr %134, i64 8
  %139 = load i64, ptr %138, align 8
  %140 = getelementptr inbounds i8, ptr %136, i64 8
  store i64 %139, ptr %140, align 8
  %141 = getelementptr inbounds i8, ptr %134, i64 16
  %142 = load i64, ptr %141, align 8
  %143 = or i64 %142, %124
  %144 = getelementptr inbounds i8, ptr %136, i64 16
  store i64 %143, ptr %144, align 8
  %145 = icmp ne i64 %137, %139
  %146 = zext i1 %145 to i64
  %147 = add nsw i64 %133, %146
  %148 = add nuw nsw i64 %132, 1
  %149 = icmp eq i64 %148, %130
  br i1 %149, label %150, label %131

150:
  %151 = phi i64 [ %122, %121 ], [ %147, %131 ]
  store i64 %151, ptr %94, align 8
  %152 = add nsw i64 %113, 1
  store i64 %152, ptr %114, align 8
  br label %153

153:
  %154 = phi i64 [ %95, %150 ], [ 0, %86 ]
  %155 = phi ptr [ %91, %150 ], [ null, %86 ]
  %156 = getelementptr inbounds i8, ptr %3, i64 2308
  %157 = load i32, ptr %156, align 4
  %158 = icmp sgt i32 %157, 0
  br i1 %158, label %159, label %162

159:
  %160 = getelementptr inbounds i8, ptr %3, i64 2048
  %161 = zext nneg i32 %157 to i64
  br label %168

162:
  %163 = getelementptr inbounds i8, ptr %0, i64 4
  %164 = load i32, ptr %163, align 4
  %165 = icmp sgt i32 %164, 0
  br i1 %165, label %166, label %176

166:
  %167 = zext nneg i32 %164 to i64
  br label %180

168:
  %169 = phi i64 [ 0, %159 ], [ %174, %168 ]
  %170 = getelementptr inbounds ptr, ptr %160, i64 %169
  %171 = load ptr, ptr %170, align 8
  %172 = load i64, ptr %171, align 8
  %173 = add nsw i64 %172, 1
  store i64 %173, ptr %171, align 8
  %174 = add nuw nsw i64 %169, 1
  %175 = icmp eq i64 %174, %161
  br i1 %175, label %162, label %168

176:
  %177 = getelementptr inbounds i8, ptr %0, i64 48
  %178 = load i32, ptr %177, align 8
  %179 = icmp eq i32 %178, 0
  br i1 %179, label %194, label %186

180:
  %181 = phi i64 [ 0, %166 ], [ %184, %180 ]
  %182 = getelementptr inbounds i64, ptr %3, i64 %181
  %183 = getelementptr inbounds ptr, ptr %11, i64 %181
  store ptr %182, ptr %183, align 8
  %184 = add nuw nsw i64 %181, 1
  %185 = icmp eq i64 %184, %167
  br i1 %185, label %176, label %180

186:
  %187 = load ptr, ptr @runtime, align 8
  %188 = getelementptr inbounds i8, ptr %187, i64 136
  %189 = load ptr, ptr %188, align 8
  call void %189(ptr %1)
  %190 = load ptr, ptr @runtime, align 8
  %191 = getelementptr inbounds i8, ptr %190, i64 168
  %192 = load ptr, ptr %191, align 8
  %193 = call ptr %192()
  br label %194

194:
  %195 = phi ptr [ %193, %186 ], [ null, %176 ]
  %196 = load ptr, ptr %74, align 8
  %197 = icmp eq ptr %196, null
  %198 = load ptr, ptr %12, align 8
  br i1 %197, label %277, label %199

199:
  %200 = getelementptr inbounds i8, ptr %196, i64 32
  %201 = load ptr, ptr %200, align 8
  %202 = getelementptr inbounds i8, ptr %196, i64 20
  %203 = load i32, ptr %202, align 4
  %204 = sext i32 %203 to i64
  %205 = getelementptr inbounds i64, ptr %3, i64 %204
  %206 = getelementptr inbounds i8, ptr %196, i64 24
  %207 = load i64, ptr %206, align 8
  %208 = call i32 %201(ptr %205, i64 %207, ptr %198)
  %209 = icmp eq i32 %208, 0
  br i1 %209, label %210, label %297

210:
  %211 = load i32, ptr %202, align 4
  %212 = sext i32 %211 to i64
  %213 = getelementptr inbounds i64, ptr %3, i64 %212
  %214 = load i64, ptr %213, align 8
  %215 = getelementptr inbounds i8, ptr %0, i64 80
  %216 = load ptr, ptr %215, align 8
  %217 = getelementptr inbounds i8, ptr %0, i64 56
  %218 = load ptr, ptr %217, align 8
  %219 = getelementptr inbounds i8, ptr %0, i64 16
  %220 = load i32, ptr %219, align 8
  %221 = getelementptr inbounds i8, ptr %0, i64 20
  %222 = load i32, ptr %221, align 4
  %223 = getelementptr inbounds i8, ptr %0, i64 24
  %224 = load i32, ptr %223, align 8
  %225 = getelementptr inbounds i8, ptr %0, i64 28
  %226 = load i32, ptr %225, align 4
  %227 = getelementptr inbounds i8, ptr %0, i64 32
  %228 = load i32, ptr %227, align 8
  %229 = getelementptr inbounds i8, ptr %0, i64 36
  %230 = load i32, ptr %229, align 4
  %231 = getelementptr inbounds i8, ptr %0, i64 40
  %232 = load i32, ptr %231, align 8
  %233 = call i32 %216(ptr %218, i32 %220, i32 %222, i32 %224, i32 %226, i32 %228, i32 %230, i32 %232, ptr %198, ptr %11, ptr null)
  %234 = icmp eq i32 %233, 0
  br i1 %234, label %235, label %272

235:
  %236 = load ptr, ptr %74, align 8
  %237 = getelementptr inbounds i8, ptr %236, i64 56
  %238 = load ptr, ptr %237, align 8
  %239 = icmp eq ptr %238, null
  br i1 %239, label %240, label %254

240:
  %241 = load ptr, ptr %215, align 8
  %242 = load ptr, ptr %236, align 8
  %243 = getelementptr inbounds i8, ptr %236, i64 8
  %244 = load i32, ptr %243, align 8
  %245 = getelementptr inbounds i8, ptr %236, i64 12
  %246 = load i32, ptr %245, align 4
  %247 = getelementptr inbounds i8, ptr %236, i64 16
  %248 = load i32, ptr %247, align 8
  %249 = load i32, ptr %225, align 4
  %250 = load i32, ptr %227, align 8
  %251 = load i32, ptr %229, align 4
  %252 = load i32, ptr %231, align 8
  %253 = call i32 %241(ptr %242, i32 %244, i32 %246, i32 %248, i32 %249, i32 %250, i32 %251, i32 %252, ptr %198, ptr %11, ptr null)
  br label %272

254:
  store i32 6, ptr %8, align 4
  %255 = getelementptr inbounds i8, ptr %8, i64 8
  store i32 1, ptr %255, align 4
  %256 = getelementptr inbounds i8, ptr %236, i64 8
  %257 = load i32, ptr %256, align 8
  store i32 %257, ptr %9, align 8
  %258 = getelementptr inbounds i8, ptr %9, i64 4
  %259 = getelementptr inbounds i8, ptr %236, i64 12
  %260 = load <2 x i32>, ptr %259, align 4
  %261 = load <2 x i32>, ptr %225, align 4
  %262 = shufflevector <2 x i32> %260, <2 x i32> %261, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x i32> %262, ptr %258, align 4
  %263 = getelementptr inbounds i8, ptr %9, i64 20
  %264 = load <2 x i32>, ptr %229, align 4
  store <2 x i32> %264, ptr %263, align 4
  %265 = getelementptr inbounds i8, ptr %9, i64 28
  store i32 0, ptr %265, align 4
  %266 = getelementptr inbounds i8, ptr %9, i64 32
  store ptr %198, ptr %266, align 8
  %267 = getelementptr inbounds i8, ptr %9, i64 40
  store ptr %8, ptr %267, align 8
  %268 = getelementptr inbounds i8, ptr %9, i64 48
  store i32 1, ptr %268, align 8
  %269 = getelementptr inbounds i8, ptr %9, i64 52
  store i32 0, ptr %269, align 4
  %270 = load ptr, ptr %236, align 8
  %271 = call i32 %238(ptr %9, ptr %270, ptr %11, ptr null)
  br label %272

272:
  %273 = phi i32 [ %253, %240 ], [ %271, %254 ], [ %233, %210 ]
  %274 = getelementptr inbounds i8, ptr %196, i64 40
  %275 = load ptr, ptr %274, align 8
  %276 = call i32 %275(i64 %214, ptr %198)
  br label %297

277:
  %278 = getelementptr inbounds i8, ptr %0, i64 80
  %279 = load ptr, ptr %278, align 8
  %280 = getelementptr inbounds i8, ptr %0, i64 56
  %281 = load ptr, ptr %280, align 8
  %282 = getelementptr inbounds i8, ptr %0, i64 16
  %283 = load i32, ptr %282, align 8
  %284 = getelementptr inbounds i8, ptr %0, i64 20
  %285 = load i32, ptr %284, align 4
  %286 = getelementptr inbounds i8, ptr %0, i64 24
  %287 = load i32, ptr %286, align 8
  %288 = getelementptr inbounds i8, ptr %0, i64 28
  %289 = load i32, ptr %288, align 4
  %290 = getelementptr inbounds i8, ptr %0, i64 32
  %291 = load i32, ptr %290, align 8
  %292 = getelementptr inbounds i8, ptr %0, i64 36
  %293 = load i32, ptr %292, align 4
  %294 = getelementptr inbounds i8, ptr %0, i64 40
  %295 = load i32, ptr %294, align 8
  %296 = call i32 %279(ptr %281, i32 %283, i32 %285, i32 %287, i32 %289, i32 %291, i32 %293, i32 %295, ptr %198, ptr %11, ptr null)
  br label %297

297:
  %298 = phi i1 [ false, %277 ], [ %234, %272 ], [ false, %199 ]
  %299 = phi i32 [ %296, %277 ], [ %273, %272 ], [ %208, %199 ]
  %300 = icmp eq ptr %155, null
  br i1 %300, label %310, label %301

301:
  %302 = icmp eq i32 %299, 0
  %303 = or i1 %298, %302
  br i1 %303, label %306, label %304

304:
  %305 = getelementptr inbounds i8, ptr %155, i64 24
  store i64 %154, ptr %305, align 8
  br label %306

306:
  %307 = getelementptr inbounds i8, ptr %155, i64 16
  %308 = getelementptr inbounds i8, ptr %155, i64 8
  %309 = load i64, ptr %308, align 8
  store atomic i64 %309, ptr %307 release, align 8
  br label %310

310:
  %311 = icmp eq ptr %195, null
  br i1 %311, label %316, label %312

312:
  %313 = load ptr, ptr @runtime, align 8
  %314 = getelementptr inbounds i8, ptr %313, i64 176
  %315 = load ptr, ptr %314, align 8
  call void %315(ptr %195)
  br label %316

316:
  %317 = icmp eq i32 %299, 0
  br i1 %317, label %318, label %331

318:
  %319 = load i32, ptr %156, align 4
  %320 = icmp sgt i32 %319, 0
  br i1 %320, label %321, label %387

321:
  %322 = getelementptr inbounds i8, ptr %3, i64 2048
  %323 = zext nneg i32 %319 to i64
  br label %324

324:
  %325 = phi i64 [ 0, %321 ], [ %329, %324 ]
  %326 = getelementptr inbounds ptr, ptr %322, i64 %325
  %327 = load ptr, ptr %326, align 8
  %328 = getelementptr inbounds i8, ptr %327, i64 24
  store i32 0, ptr %328, align 8
  %329 = add nuw nsw i64 %325, 1
  %330 = icmp eq i64 %329, %323
  br i1 %330, label %387, label %324

331:
  br i1 %298, label %332, label %387

332:
  %333 = load ptr, ptr %12, align 8
  store ptr %2, ptr %7, align 16
  %334 = getelementptr inbounds i8, ptr %7, i64 8
  %335 = load ptr, ptr @runtime, align 8
  %336 = getelementptr inbounds i8, ptr %335, i64 152
  %337 = load ptr, ptr %336, align 8
  %338 = ptrtoint ptr %333 to i64
  %339 = call ptr %337(i64 %338)
  store ptr %339, ptr %334, align 8
  %340 = getelementptr inbounds i8, ptr %7, i64 16
  %341 = load ptr, ptr @runtime, align 8
  %342 = getelementptr inbounds i8, ptr %341, i64 152
  %343 = load ptr, ptr %342, align 8
  %344 = sext i32 %299 to i64
  %345 = call ptr %343(i64 %344)
  store ptr %345, ptr %340, align 16
  %346 = load ptr, ptr @runtime, align 8
  %347 = getelementptr inbounds i8, ptr %346, i64 136
  %348 = load ptr, ptr %347, align 8
  call void %348(ptr %1)
  %349 = icmp ne ptr %339, null
  %350 = icmp ne ptr %345, null
  %351 = select i1 %349, i1 %350, i1 false
  br i1 %351, label %352, label %361

352:
  %353 = load ptr, ptr @runtime, align 8
  %354 = getelementptr inbounds i8, ptr %353, i64 120
  %355 = load ptr, ptr %354, align 8
  %356 = load ptr, ptr %74, align 8
  %357 = getelementptr inbounds i8, ptr %356, i64 64
  %358 = load ptr, ptr %357, align 8
  %359 = call ptr %355(ptr %358, ptr %7, i64 3, ptr null)
  %360 = load ptr, ptr %334, align 8
  br label %361

361:
  %362 = phi ptr [ %360, %352 ], [ %339, %332 ]
  %363 = phi ptr [ %359, %352 ], [ null, %332 ]
  %364 = icmp eq ptr %362, null
  br i1 %364, label %369, label %365

365:
  %366 = load ptr, ptr @runtime, align 8
  %367 = getelementptr inbounds i8, ptr %366, i64 144
  %368 = load ptr, ptr %367, align 8
  call void %368(ptr %362)
  br label %369

369:
  %370 = load ptr, ptr %340, align 16
  %371 = icmp eq ptr %370, null
  br i1 %371, label %376, label %372

372:
  %373 = load ptr, ptr @runtime, align 8
  %374 = getelementptr inbounds i8, ptr %373, i64 144
  %375 = load ptr, ptr %374, align 8
  call void %375(ptr %370)
  br label %376

376:
  %377 = load ptr, ptr @runtime, align 8
  %378 = getelementptr inbounds i8, ptr %377, i64 144
  %379 = load ptr, ptr %378, align 8
  call void %379(ptr %1)
  %380 = icmp eq ptr %363, null
  br i1 %380, label %385, label %381

381:
  %382 = load ptr, ptr @runtime, align 8
  %383 = getelementptr inbounds i8, ptr %382, i64 144
  %384 = load ptr, ptr %383, align 8
  call void %384(ptr %363)
  br label %385

385:
  %386 = phi i32 [ 1, %381 ], [ 4, %376 ]
  br label %390

387:
  %388 = icmp eq i32 %299, 0
  %389 = zext i1 %388 to i32
  br label %390

390:
  %391 = phi i32 [ %386, %385 ], [ %389, %387 ]
  br i1 %311, label %396, label %392

392:
  %393 = load ptr, ptr @runtime, align 8
  %394 = getelementptr inbounds i8, ptr %393, i64 144
  %395 = load ptr, ptr %394, align 8
  call void %395(ptr %1)
  br label %396

396:
  %397 = phi i32 [ 1, %6 ], [ 0, %49 ], [ 0, %57 ], [ 0, %65 ], [ 0, %77 ], [ %391, %390 ], [ 2, %37 ], [ 0, %26 ], [ 0, %68 ], [ %391, %392 ], [ 3, %111 ], [ 3, %117 ], [ 0, %93 ], [ 0, %99 ], [ 0, %103 ], [ 0, %90 ]
  ret i32 %397
}

declare i64 @llvm.abs.i64(i64, i1)

declare i64 @llvm.smax.i64(i64, i64)
