; Made by tools/build_fast.py of fast.c, whose sha256 is d25fd5e6a5b90b75e58583c7e3943b539f78bce79f77d7a384bcb37d6b8e4c66

%struct.seen = type { i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, ptr, ptr, i64, double }
%struct.reader = type { ptr, i64, ptr, i64 }
%struct.dlpack_tensor = type { ptr, i32, i32, i32, i32, ptr, ptr, i64 }
%struct.span = type { i64, i64, i64 }
%struct.argument = type { i32, i32, i32, i32, i32, i32, [2 x i64], i64, i64, i64, i64, i64, double, [8 x %struct.axis] }
%struct.axis = type { i64, [2 x i64] }

@runtime = internal unnamed_addr global ptr null, align 8

define ptr @tileproof_fast_launch(ptr readnone %0, ptr %1, i64 %2) nounwind {
  %4 = alloca ptr, align 8
  %5 = alloca [32 x %struct.seen], align 16
  %6 = alloca [160 x i64], align 16
  %7 = icmp eq i64 %2, 2
  %8 = load ptr, ptr @runtime, align 8
  br i1 %7, label %9, label %26

9:
  %10 = load ptr, ptr %1, align 8
  %11 = load i64, ptr %8, align 8
  %12 = add nsw i64 %11, -8
  %13 = getelementptr inbounds i8, ptr %10, i64 %12
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds i8, ptr %8, i64 64
  %16 = load ptr, ptr %15, align 8
  %17 = icmp eq ptr %14, %16
  br i1 %17, label %18, label %26

18:
  %19 = getelementptr inbounds i8, ptr %1, i64 8
  %20 = load ptr, ptr %19, align 8
  %21 = getelementptr inbounds i8, ptr %20, i64 %12
  %22 = load ptr, ptr %21, align 8
  %23 = getelementptr inbounds i8, ptr %8, i64 32
  %24 = load ptr, ptr %23, align 8
  %25 = icmp eq ptr %22, %24
  br i1 %25, label %30, label %26

26:
  %27 = getelementptr inbounds i8, ptr %8, i64 104
  %28 = load ptr, ptr %27, align 8
  %29 = tail call ptr %28(i64 0)
  br label %306

30:
  %31 = getelementptr inbounds i8, ptr %8, i64 24
  %32 = load i64, ptr %31, align 8
  %33 = getelementptr inbounds i8, ptr %10, i64 %32
  %34 = load ptr, ptr %33, align 8
  %35 = icmp eq ptr %34, null
  br i1 %35, label %278, label %36

36:
  %37 = getelementptr inbounds i8, ptr %34, i64 %12
  %38 = load ptr, ptr %37, align 8
  %39 = icmp eq ptr %38, %22
  br i1 %39, label %40, label %278

40:
  %41 = getelementptr inbounds i8, ptr %34, i64 %11
  %42 = load i64, ptr %41, align 8
  %43 = icmp eq i64 %42, 0
  br i1 %43, label %278, label %44

44:
  %45 = getelementptr inbounds i8, ptr %8, i64 8
  %46 = load i64, ptr %45, align 8
  %47 = getelementptr inbounds i8, ptr %34, i64 %46
  %48 = load ptr, ptr %47, align 8
  %49 = getelementptr inbounds i8, ptr %48, i64 %12
  %50 = load ptr, ptr %49, align 8
  %51 = getelementptr inbounds i8, ptr %8, i64 40
  %52 = load ptr, ptr %51, align 8
  %53 = icmp eq ptr %50, %52
  %54 = select i1 %53, ptr %34, ptr null
  %55 = getelementptr inbounds i8, ptr %20, i64 %11
  %56 = load i64, ptr %55, align 8
  %57 = icmp eq ptr %54, null
  %58 = icmp sgt i64 %56, 32
  %59 = select i1 %57, i1 true, i1 %58
  br i1 %59, label %278, label %60

60:
  %61 = getelementptr inbounds i8, ptr %8, i64 16
  %62 = load i64, ptr %61, align 8
  %63 = getelementptr inbounds i8, ptr %48, i64 %62
  %64 = getelementptr inbounds i8, ptr %63, i64 16
  %65 = load i64, ptr %64, align 8
  %66 = getelementptr inbounds i8, ptr %63, i64 24
  %67 = load i64, ptr %66, align 8
  %68 = or i64 %67, %65
  %69 = icmp eq i64 %68, 0
  br i1 %69, label %228, label %70

70:
  %71 = getelementptr inbounds i8, ptr %8, i64 128
  %72 = load ptr, ptr %71, align 8
  tail call void %72(ptr %34)
  %73 = icmp sgt i64 %56, 0
  br i1 %73, label %76, label %74

74:
  %75 = load ptr, ptr @runtime, align 8
  br label %193

76:
  %77 = phi i32 [ %167, %166 ], [ 0, %70 ]
  %78 = phi i64 [ %168, %166 ], [ 0, %70 ]
  %79 = load i64, ptr %64, align 8
  %80 = lshr i64 %79, %78
  %81 = trunc i64 %80 to i32
  %82 = and i32 %81, 1
  %83 = load i64, ptr %66, align 8
  %84 = lshr i64 %83, %78
  %85 = trunc i64 %84 to i32
  %86 = and i32 %85, 1
  %87 = or i32 %86, %82
  %88 = icmp eq i32 %87, 0
  br i1 %88, label %166, label %89

89:
  %90 = load ptr, ptr @runtime, align 8
  %91 = getelementptr inbounds i8, ptr %90, i64 8
  %92 = load i64, ptr %91, align 8
  %93 = shl nsw i64 %78, 3
  %94 = getelementptr i8, ptr %20, i64 %92
  %95 = getelementptr i8, ptr %94, i64 %93
  %96 = load ptr, ptr %95, align 8
  %97 = load i64, ptr %90, align 8
  %98 = getelementptr i8, ptr %96, i64 %97
  %99 = getelementptr i8, ptr %98, i64 -8
  %100 = load ptr, ptr %99, align 8
  %101 = getelementptr inbounds i8, ptr %90, i64 216
  %102 = getelementptr inbounds i8, ptr %90, i64 208
  %103 = load i64, ptr %102, align 8
  %104 = icmp sgt i64 %103, 0
  br i1 %104, label %108, label %166

105:
  %106 = add nuw nsw i64 %109, 1
  %107 = icmp eq i64 %106, %103
  br i1 %107, label %166, label %108

108:
  %109 = phi i64 [ %106, %105 ], [ 0, %89 ]
  %110 = getelementptr inbounds %struct.reader, ptr %101, i64 %109
  %111 = load ptr, ptr %110, align 8
  %112 = icmp eq ptr %111, %100
  br i1 %112, label %113, label %105

113:
  %114 = getelementptr inbounds i8, ptr %110, i64 8
  %115 = load i64, ptr %114, align 8
  %116 = icmp eq i64 %115, 1
  br i1 %116, label %117, label %166

117:
  store ptr %96, ptr %4, align 8
  %118 = icmp eq i32 %86, 0
  br i1 %118, label %138, label %119

119:
  %120 = getelementptr inbounds i8, ptr %90, i64 112
  %121 = load ptr, ptr %120, align 8
  %122 = getelementptr inbounds i8, ptr %90, i64 192
  %123 = load ptr, ptr %122, align 8
  %124 = call ptr %121(ptr %123, ptr %4, i64 1, ptr null)
  %125 = icmp eq ptr %124, null
  %126 = load ptr, ptr @runtime, align 8
  br i1 %125, label %127, label %130

127:
  %128 = getelementptr inbounds i8, ptr %126, i64 144
  %129 = load ptr, ptr %128, align 8
  call void %129()
  br label %133

130:
  %131 = getelementptr inbounds i8, ptr %126, i64 136
  %132 = load ptr, ptr %131, align 8
  call void %132(ptr %124)
  br label %133

133:
  %134 = load ptr, ptr @runtime, align 8
  %135 = getelementptr inbounds i8, ptr %134, i64 80
  %136 = load ptr, ptr %135, align 8
  %137 = icmp eq ptr %124, %136
  br i1 %137, label %138, label %170

138:
  %139 = phi ptr [ %134, %133 ], [ %90, %117 ]
  %140 = icmp eq i32 %82, 0
  %141 = icmp ne i32 %77, 0
  %142 = select i1 %140, i1 true, i1 %141
  br i1 %142, label %164, label %143

143:
  %144 = getelementptr inbounds i8, ptr %139, i64 120
  %145 = load ptr, ptr %144, align 8
  %146 = load ptr, ptr %4, align 8
  %147 = getelementptr inbounds i8, ptr %139, i64 184
  %148 = load ptr, ptr %147, align 8
  %149 = call ptr %145(ptr %146, ptr %148)
  %150 = icmp eq ptr %149, null
  %151 = load ptr, ptr @runtime, align 8
  br i1 %150, label %152, label %155

152:
  %153 = getelementptr inbounds i8, ptr %151, i64 144
  %154 = load ptr, ptr %153, align 8
  call void %154()
  br label %158

155:
  %156 = getelementptr inbounds i8, ptr %151, i64 136
  %157 = load ptr, ptr %156, align 8
  call void %157(ptr %149)
  br label %158

158:
  %159 = load ptr, ptr @runtime, align 8
  %160 = getelementptr inbounds i8, ptr %159, i64 80
  %161 = load ptr, ptr %160, align 8
  %162 = icmp ne ptr %149, %161
  %163 = zext i1 %162 to i32
  br label %164

164:
  %165 = phi i32 [ %163, %158 ], [ %77, %138 ]
  br label %166

166:
  %167 = phi i32 [ %165, %164 ], [ %77, %113 ], [ %77, %76 ], [ %77, %89 ], [ %77, %105 ]
  %168 = add nuw nsw i64 %78, 1
  %169 = icmp eq i64 %168, %56
  br i1 %169, label %171, label %76

170:
  br label %273

171:
  %172 = icmp eq i32 %167, 0
  %173 = load ptr, ptr @runtime, align 8
  br i1 %172, label %193, label %174

174:
  %175 = getelementptr inbounds i8, ptr %173, i64 112
  %176 = load ptr, ptr %175, align 8
  %177 = getelementptr inbounds i8, ptr %173, i64 176
  %178 = load ptr, ptr %177, align 8
  %179 = call ptr %176(ptr %178, ptr null, i64 0, ptr null)
  %180 = icmp eq ptr %179, null
  %181 = load ptr, ptr @runtime, align 8
  br i1 %180, label %182, label %185

182:
  %183 = getelementptr inbounds i8, ptr %181, i64 144
  %184 = load ptr, ptr %183, align 8
  call void %184()
  br label %188

185:
  %186 = getelementptr inbounds i8, ptr %181, i64 136
  %187 = load ptr, ptr %186, align 8
  call void %187(ptr %179)
  br label %188

188:
  %189 = load ptr, ptr @runtime, align 8
  %190 = getelementptr inbounds i8, ptr %189, i64 80
  %191 = load ptr, ptr %190, align 8
  %192 = icmp eq ptr %179, %191
  br i1 %192, label %193, label %273

193:
  %194 = phi ptr [ %75, %74 ], [ %173, %171 ], [ %189, %188 ]
  %195 = getelementptr inbounds i8, ptr %194, i64 24
  %196 = load i64, ptr %195, align 8
  %197 = getelementptr inbounds i8, ptr %10, i64 %196
  %198 = load ptr, ptr %197, align 8
  %199 = icmp eq ptr %198, null
  br i1 %199, label %223, label %200

200:
  %201 = load i64, ptr %194, align 8
  %202 = add nsw i64 %201, -8
  %203 = getelementptr inbounds i8, ptr %198, i64 %202
  %204 = load ptr, ptr %203, align 8
  %205 = getelementptr inbounds i8, ptr %194, i64 32
  %206 = load ptr, ptr %205, align 8
  %207 = icmp eq ptr %204, %206
  br i1 %207, label %208, label %223

208:
  %209 = getelementptr inbounds i8, ptr %198, i64 %201
  %210 = load i64, ptr %209, align 8
  %211 = icmp eq i64 %210, 0
  br i1 %211, label %223, label %212

212:
  %213 = getelementptr inbounds i8, ptr %194, i64 8
  %214 = load i64, ptr %213, align 8
  %215 = getelementptr inbounds i8, ptr %198, i64 %214
  %216 = load ptr, ptr %215, align 8
  %217 = getelementptr inbounds i8, ptr %216, i64 %202
  %218 = load ptr, ptr %217, align 8
  %219 = getelementptr inbounds i8, ptr %194, i64 40
  %220 = load ptr, ptr %219, align 8
  %221 = icmp eq ptr %218, %220
  %222 = select i1 %221, ptr %198, ptr null
  br label %223

223:
  %224 = phi ptr [ %222, %212 ], [ null, %208 ], [ null, %200 ], [ null, %193 ]
  %225 = icmp eq ptr %224, %54
  %226 = getelementptr inbounds i8, ptr %194, i64 136
  %227 = load ptr, ptr %226, align 8
  call void %227(ptr %34)
  br i1 %225, label %228, label %278

228:
  %229 = icmp sgt i64 %56, 0
  br i1 %229, label %233, label %249

230:
  %231 = add nuw nsw i64 %234, 1
  %232 = icmp eq i64 %231, %56
  br i1 %232, label %249, label %233

233:
  %234 = phi i64 [ %231, %230 ], [ 0, %228 ]
  %235 = load ptr, ptr @runtime, align 8
  %236 = getelementptr inbounds i8, ptr %235, i64 8
  %237 = load i64, ptr %236, align 8
  %238 = shl nsw i64 %234, 3
  %239 = getelementptr i8, ptr %20, i64 %237
  %240 = getelementptr i8, ptr %239, i64 %238
  %241 = load ptr, ptr %240, align 8
  %242 = getelementptr inbounds %struct.seen, ptr %5, i64 %234
  %243 = call fastcc i32 @read(ptr %241, ptr %242)
  %244 = icmp eq i32 %243, 0
  br i1 %244, label %245, label %230

245:
  %246 = getelementptr inbounds i8, ptr %242, i64 4
  %247 = load i32, ptr %246, align 4
  %248 = icmp eq i32 %247, 3
  br i1 %248, label %277, label %278

249:
  %250 = getelementptr inbounds i8, ptr %63, i64 8
  %251 = load ptr, ptr %250, align 8
  %252 = load i64, ptr %251, align 8
  %253 = getelementptr inbounds i8, ptr %63, i64 32
  %254 = getelementptr inbounds ptr, ptr %253, i64 %252
  %255 = load ptr, ptr %254, align 8
  %256 = call fastcc i32 @fits(ptr %255, ptr %5, i64 %56, ptr %6)
  %257 = icmp eq i32 %256, 0
  br i1 %257, label %258, label %279

258:
  %259 = load i64, ptr %63, align 8
  %260 = icmp sgt i64 %259, 0
  br i1 %260, label %261, label %278

261:
  %262 = phi i64 [ %271, %270 ], [ 0, %258 ]
  %263 = icmp eq i64 %262, %252
  br i1 %263, label %270, label %264

264:
  %265 = getelementptr inbounds ptr, ptr %253, i64 %262
  %266 = load ptr, ptr %265, align 8
  %267 = call fastcc i32 @fits(ptr %266, ptr %5, i64 %56, ptr %6)
  %268 = icmp eq i32 %267, 0
  br i1 %268, label %270, label %269

269:
  store i64 %262, ptr %251, align 8
  br label %279

270:
  %271 = add nuw nsw i64 %262, 1
  %272 = icmp eq i64 %271, %259
  br i1 %272, label %278, label %261

273:
  %274 = phi ptr [ %134, %170 ], [ %189, %188 ]
  %275 = getelementptr inbounds i8, ptr %274, i64 136
  %276 = load ptr, ptr %275, align 8
  call void %276(ptr %34)
  br label %278

277:
  br label %290

278:
  br label %283

279:
  %280 = phi ptr [ %266, %269 ], [ %255, %249 ]
  %281 = call fastcc i32 @start(ptr %280, ptr %34, ptr %6)
  %282 = icmp eq i32 %281, 2
  br i1 %282, label %290, label %283

283:
  %284 = phi i32 [ 0, %278 ], [ %281, %279 ]
  %285 = load ptr, ptr @runtime, align 8
  %286 = getelementptr inbounds i8, ptr %285, i64 104
  %287 = load ptr, ptr %286, align 8
  %288 = zext nneg i32 %284 to i64
  %289 = call ptr %287(i64 %288)
  br label %306

290:
  %291 = load ptr, ptr @runtime, align 8
  %292 = getelementptr inbounds i8, ptr %291, i64 112
  %293 = load ptr, ptr %292, align 8
  %294 = getelementptr inbounds i8, ptr %291, i64 168
  %295 = load ptr, ptr %294, align 8
  %296 = call ptr %293(ptr %295, ptr %1, i64 2, ptr null)
  %297 = icmp eq ptr %296, null
  br i1 %297, label %298, label %306

298:
  %299 = load ptr, ptr @runtime, align 8
  %300 = getelementptr inbounds i8, ptr %299, i64 144
  %301 = load ptr, ptr %300, align 8
  call void %301()
  %302 = load ptr, ptr @runtime, align 8
  %303 = getelementptr inbounds i8, ptr %302, i64 104
  %304 = load ptr, ptr %303, align 8
  %305 = call ptr %304(i64 0)
  br label %306

306:
  %307 = phi ptr [ %29, %26 ], [ %289, %283 ], [ %305, %298 ], [ %296, %290 ]
  ret ptr %307
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
  %15 = getelementptr inbounds i8, ptr %5, i64 88
  %16 = load ptr, ptr %15, align 8
  %17 = call i64 %16(ptr %0, ptr %4)
  %18 = getelementptr inbounds i8, ptr %1, i64 64
  store i64 %17, ptr %18, align 8
  %19 = load i32, ptr %4, align 4
  %20 = icmp eq i32 %19, 0
  %21 = zext i1 %20 to i32
  br label %173

22:
  %23 = getelementptr inbounds i8, ptr %5, i64 56
  %24 = load ptr, ptr %23, align 8
  %25 = icmp eq ptr %9, %24
  br i1 %25, label %26, label %31

26:
  store i32 2, ptr %1, align 8
  %27 = getelementptr inbounds i8, ptr %5, i64 96
  %28 = load ptr, ptr %27, align 8
  %29 = tail call double %28(ptr %0)
  %30 = getelementptr inbounds i8, ptr %1, i64 72
  store double %29, ptr %30, align 8
  br label %173

31:
  %32 = getelementptr inbounds i8, ptr %5, i64 72
  %33 = load ptr, ptr %32, align 8
  %34 = icmp eq ptr %0, %33
  br i1 %34, label %39, label %35

35:
  %36 = getelementptr inbounds i8, ptr %5, i64 80
  %37 = load ptr, ptr %36, align 8
  %38 = icmp eq ptr %0, %37
  br i1 %38, label %39, label %42

39:
  store i32 3, ptr %1, align 8
  %40 = zext i1 %34 to i64
  %41 = getelementptr inbounds i8, ptr %1, i64 64
  store i64 %40, ptr %41, align 8
  br label %173

42:
  %43 = getelementptr inbounds i8, ptr %5, i64 216
  %44 = getelementptr inbounds i8, ptr %5, i64 208
  %45 = load i64, ptr %44, align 8
  %46 = icmp sgt i64 %45, 0
  br i1 %46, label %50, label %173

47:
  %48 = add nuw nsw i64 %51, 1
  %49 = icmp eq i64 %48, %45
  br i1 %49, label %173, label %50

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
  switch i64 %57, label %173 [
    i64 0, label %59
    i64 1, label %82
    i64 2, label %132
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
  br label %173

82:
  %83 = getelementptr inbounds i8, ptr %3, i64 16
  store i32 0, ptr %83, align 8
  %84 = getelementptr inbounds i8, ptr %52, i64 16
  %85 = load ptr, ptr %84, align 8
  %86 = call i32 %85(ptr %0, ptr %3)
  %87 = icmp eq i32 %86, 0
  br i1 %87, label %92, label %88

88:
  %89 = load ptr, ptr @runtime, align 8
  %90 = getelementptr inbounds i8, ptr %89, i64 144
  %91 = load ptr, ptr %90, align 8
  call void %91()
  br label %130

92:
  %93 = load i32, ptr %83, align 8
  %94 = icmp sgt i32 %93, 0
  %95 = getelementptr inbounds i8, ptr %3, i64 24
  %96 = load ptr, ptr %95, align 8
  br i1 %94, label %100, label %97

97:
  %98 = getelementptr inbounds i8, ptr %3, i64 32
  %99 = load ptr, ptr %98, align 8
  br label %106

100:
  %101 = icmp ne ptr %96, null
  %102 = getelementptr inbounds i8, ptr %3, i64 32
  %103 = load ptr, ptr %102, align 8
  %104 = icmp ne ptr %103, null
  %105 = select i1 %101, i1 %104, i1 false
  br i1 %105, label %106, label %130

106:
  %107 = phi ptr [ %99, %97 ], [ %103, %100 ]
  %108 = getelementptr inbounds i8, ptr %3, i64 8
  %109 = getelementptr inbounds i8, ptr %1, i64 8
  %110 = load <2 x i32>, ptr %108, align 8
  store <2 x i32> %110, ptr %109, align 8
  %111 = load ptr, ptr %3, align 8
  %112 = ptrtoint ptr %111 to i64
  %113 = getelementptr inbounds i8, ptr %3, i64 40
  %114 = load i64, ptr %113, align 8
  %115 = add i64 %114, %112
  %116 = getelementptr inbounds i8, ptr %1, i64 40
  store i64 %115, ptr %116, align 8
  %117 = getelementptr inbounds i8, ptr %1, i64 16
  store i32 %93, ptr %117, align 8
  %118 = getelementptr inbounds i8, ptr %1, i64 48
  store ptr %96, ptr %118, align 8
  %119 = getelementptr inbounds i8, ptr %1, i64 56
  store ptr %107, ptr %119, align 8
  %120 = getelementptr inbounds i8, ptr %3, i64 20
  %121 = load i32, ptr %120, align 4
  %122 = zext i32 %121 to i64
  %123 = getelementptr inbounds i8, ptr %1, i64 32
  store i64 %122, ptr %123, align 8
  %124 = getelementptr inbounds i8, ptr %1, i64 24
  store i32 1, ptr %124, align 8
  %125 = getelementptr inbounds i8, ptr %1, i64 20
  store i32 1, ptr %125, align 4
  %126 = icmp ne ptr %111, null
  %127 = icmp eq i64 %114, 0
  %128 = select i1 %126, i1 true, i1 %127
  %129 = zext i1 %128 to i32
  br label %130

130:
  %131 = phi i32 [ 0, %88 ], [ %129, %106 ], [ 0, %100 ]
  br label %173

132:
  %133 = getelementptr inbounds i8, ptr %52, i64 24
  %134 = load i64, ptr %133, align 8
  %135 = getelementptr inbounds i8, ptr %0, i64 %134
  %136 = load ptr, ptr %135, align 8
  %137 = icmp eq ptr %136, null
  br i1 %137, label %173, label %138

138:
  %139 = getelementptr i8, ptr %136, i64 %6
  %140 = getelementptr i8, ptr %139, i64 -8
  %141 = load ptr, ptr %140, align 8
  %142 = getelementptr inbounds i8, ptr %5, i64 40
  %143 = load ptr, ptr %142, align 8
  %144 = icmp eq ptr %141, %143
  br i1 %144, label %145, label %173

145:
  %146 = getelementptr inbounds i8, ptr %5, i64 16
  %147 = load i64, ptr %146, align 8
  %148 = getelementptr inbounds i8, ptr %136, i64 %147
  %149 = getelementptr inbounds i8, ptr %148, i64 8
  %150 = load i32, ptr %149, align 8
  %151 = getelementptr inbounds i8, ptr %1, i64 8
  store i32 %150, ptr %151, align 8
  %152 = getelementptr inbounds i8, ptr %148, i64 12
  %153 = load i32, ptr %152, align 4
  %154 = getelementptr inbounds i8, ptr %1, i64 12
  store i32 %153, ptr %154, align 4
  %155 = load i64, ptr %148, align 8
  %156 = getelementptr inbounds i8, ptr %1, i64 40
  store i64 %155, ptr %156, align 8
  %157 = getelementptr inbounds i8, ptr %148, i64 20
  %158 = load i32, ptr %157, align 4
  %159 = getelementptr inbounds i8, ptr %1, i64 16
  store i32 %158, ptr %159, align 8
  %160 = getelementptr inbounds i8, ptr %148, i64 32
  %161 = getelementptr inbounds i8, ptr %1, i64 48
  store ptr %160, ptr %161, align 8
  %162 = sext i32 %158 to i64
  %163 = getelementptr inbounds i64, ptr %160, i64 %162
  %164 = getelementptr inbounds i8, ptr %1, i64 56
  store ptr %163, ptr %164, align 8
  %165 = getelementptr inbounds i8, ptr %148, i64 16
  %166 = load i32, ptr %165, align 8
  %167 = zext i32 %166 to i64
  %168 = getelementptr inbounds i8, ptr %1, i64 32
  store i64 %167, ptr %168, align 8
  %169 = getelementptr inbounds i8, ptr %148, i64 24
  %170 = load i32, ptr %169, align 8
  %171 = getelementptr inbounds i8, ptr %1, i64 24
  store i32 %170, ptr %171, align 8
  %172 = getelementptr inbounds i8, ptr %1, i64 20
  store i32 1, ptr %172, align 4
  br label %173

173:
  %174 = phi i32 [ %21, %14 ], [ 1, %26 ], [ 1, %39 ], [ 0, %132 ], [ 1, %59 ], [ %131, %130 ], [ 0, %55 ], [ 1, %145 ], [ 0, %138 ], [ 0, %42 ], [ 0, %47 ]
  ret i32 %174
}

define void @tileproof_fast_use(ptr %0, ptr initializes((0, 56)) %1) nounwind {
  store ptr %0, ptr @runtime, align 8
  store i64 472, ptr %1, align 8
  %3 = getelementptr inbounds i8, ptr %1, i64 8
  store i64 112, ptr %3, align 8
  %4 = getelementptr inbounds i8, ptr %1, i64 16
  store i64 280, ptr %4, align 8
  %5 = getelementptr inbounds i8, ptr %1, i64 24
  store i64 32, ptr %5, align 8
  %6 = getelementptr inbounds i8, ptr %1, i64 32
  store i64 32, ptr %6, align 8
  %7 = getelementptr inbounds i8, ptr %1, i64 40
  store i64 80, ptr %7, align 8
  %8 = getelementptr inbounds i8, ptr %1, i64 48
  store i64 32, ptr %8, align 8
  ret void
}

define internal fastcc range(i32 0, 2) i32 @fits(ptr readonly %0, ptr readonly %1, i64 range(i64 -9223372036854775808, 33) %2, ptr %3) unnamed_addr nounwind {
  %5 = alloca double, align 8
  %6 = alloca [32 x %struct.span], align 16
  %7 = alloca [32 x i64], align 16
  %8 = load i32, ptr %0, align 8
  %9 = sext i32 %8 to i64
  %10 = icmp eq i64 %2, %9
  br i1 %10, label %11, label %264

11:
  %12 = icmp sgt i64 %2, 0
  br i1 %12, label %13, label %226

13:
  %14 = getelementptr inbounds i8, ptr %0, i64 104
  %15 = load ptr, ptr %14, align 8
  %16 = getelementptr inbounds i8, ptr %0, i64 8
  %17 = getelementptr inbounds i8, ptr %0, i64 12
  %18 = getelementptr inbounds i8, ptr %0, i64 44
  br label %19

19:
  %20 = phi i32 [ 0, %13 ], [ %187, %186 ]
  %21 = phi i64 [ 0, %13 ], [ %188, %186 ]
  %22 = getelementptr inbounds %struct.argument, ptr %15, i64 %21
  %23 = load i32, ptr %22, align 8
  %24 = getelementptr inbounds %struct.seen, ptr %1, i64 %21
  %25 = load i32, ptr %24, align 8
  %26 = icmp eq i32 %23, %25
  br i1 %26, label %27, label %264

27:
  %28 = icmp eq i32 %23, 4
  br i1 %28, label %29, label %137

29:
  %30 = add nsw i32 %20, 1
  %31 = sext i32 %20 to i64
  %32 = getelementptr inbounds %struct.span, ptr %6, i64 %31
  %33 = getelementptr inbounds i8, ptr %24, i64 20
  %34 = load i32, ptr %33, align 4
  %35 = getelementptr inbounds i8, ptr %24, i64 32
  %36 = load i64, ptr %35, align 8
  %37 = getelementptr inbounds i8, ptr %22, i64 24
  %38 = sext i32 %34 to i64
  %39 = getelementptr inbounds i64, ptr %37, i64 %38
  %40 = load i64, ptr %39, align 8
  %41 = icmp eq i64 %36, %40
  br i1 %41, label %42, label %264

42:
  %43 = getelementptr inbounds i8, ptr %24, i64 16
  %44 = load i32, ptr %43, align 8
  %45 = getelementptr inbounds i8, ptr %22, i64 8
  %46 = load i32, ptr %45, align 8
  %47 = icmp eq i32 %44, %46
  br i1 %47, label %48, label %264

48:
  %49 = getelementptr inbounds i8, ptr %24, i64 8
  %50 = load i32, ptr %49, align 8
  %51 = load i32, ptr %16, align 8
  %52 = icmp eq i32 %50, %51
  br i1 %52, label %53, label %264

53:
  %54 = getelementptr inbounds i8, ptr %24, i64 12
  %55 = load i32, ptr %54, align 4
  %56 = load i32, ptr %17, align 4
  %57 = icmp eq i32 %55, %56
  br i1 %57, label %58, label %264

58:
  %59 = getelementptr inbounds i8, ptr %24, i64 4
  %60 = load i32, ptr %59, align 4
  %61 = icmp eq i32 %60, 1
  br i1 %61, label %62, label %65

62:
  %63 = load i32, ptr %18, align 4
  %64 = icmp eq i32 %63, 0
  br i1 %64, label %264, label %65

65:
  %66 = getelementptr inbounds i8, ptr %22, i64 12
  %67 = load i32, ptr %66, align 4
  %68 = icmp eq i32 %67, 0
  br i1 %68, label %73, label %69

69:
  %70 = getelementptr inbounds i8, ptr %24, i64 24
  %71 = load i32, ptr %70, align 8
  %72 = icmp eq i32 %71, 0
  br i1 %72, label %264, label %73

73:
  %74 = icmp sgt i32 %44, 0
  br i1 %74, label %75, label %90

75:
  %76 = getelementptr inbounds i8, ptr %24, i64 48
  %77 = load ptr, ptr %76, align 8
  %78 = getelementptr inbounds i8, ptr %22, i64 88
  %79 = zext nneg i32 %44 to i64
  br label %83

80:
  %81 = add nuw nsw i64 %84, 1
  %82 = icmp eq i64 %81, %79
  br i1 %82, label %90, label %83

83:
  %84 = phi i64 [ 0, %75 ], [ %81, %80 ]
  %85 = getelementptr inbounds i64, ptr %77, i64 %84
  %86 = load i64, ptr %85, align 8
  %87 = getelementptr inbounds %struct.axis, ptr %78, i64 %84
  %88 = load i64, ptr %87, align 8
  %89 = icmp eq i64 %86, %88
  br i1 %89, label %80, label %264

90:
  %91 = getelementptr inbounds i8, ptr %24, i64 40
  %92 = load i64, ptr %91, align 8
  %93 = getelementptr inbounds i8, ptr %22, i64 40
  %94 = load i64, ptr %93, align 8
  %95 = and i64 %94, %92
  %96 = icmp eq i64 %95, 0
  br i1 %96, label %97, label %264

97:
  %98 = getelementptr inbounds i8, ptr %32, i64 8
  store i64 %92, ptr %98, align 8
  store i64 %92, ptr %32, align 8
  %99 = sext i32 %67 to i64
  %100 = getelementptr inbounds i8, ptr %32, i64 16
  store i64 %99, ptr %100, align 8
  %101 = getelementptr inbounds i8, ptr %22, i64 20
  %102 = load i32, ptr %101, align 4
  %103 = icmp eq i32 %102, 0
  br i1 %103, label %104, label %186

104:
  br i1 %74, label %105, label %125

105:
  %106 = getelementptr inbounds i8, ptr %22, i64 88
  %107 = getelementptr inbounds i8, ptr %24, i64 56
  %108 = zext nneg i32 %44 to i64
  br label %109

109:
  %110 = phi i64 [ 0, %105 ], [ %123, %122 ]
  %111 = getelementptr inbounds %struct.axis, ptr %106, i64 %110
  %112 = load i64, ptr %111, align 8
  %113 = icmp sgt i64 %112, 1
  br i1 %113, label %114, label %122

114:
  %115 = load ptr, ptr %107, align 8
  %116 = getelementptr inbounds i64, ptr %115, i64 %110
  %117 = load i64, ptr %116, align 8
  %118 = getelementptr inbounds i8, ptr %111, i64 8
  %119 = getelementptr inbounds i64, ptr %118, i64 %38
  %120 = load i64, ptr %119, align 8
  %121 = icmp eq i64 %117, %120
  br i1 %121, label %122, label %264

122:
  %123 = add nuw nsw i64 %110, 1
  %124 = icmp eq i64 %123, %108
  br i1 %124, label %125, label %109

125:
  %126 = getelementptr inbounds i8, ptr %22, i64 48
  %127 = load i64, ptr %126, align 8
  %128 = sub i64 %92, %127
  store i64 %128, ptr %32, align 8
  %129 = getelementptr inbounds i8, ptr %22, i64 56
  %130 = load i64, ptr %129, align 8
  %131 = add i64 %130, %92
  store i64 %131, ptr %98, align 8
  %132 = icmp ult i64 %128, 65536
  %133 = icmp ugt i64 %127, %92
  %134 = or i1 %133, %132
  %135 = icmp ult i64 %131, %92
  %136 = select i1 %134, i1 true, i1 %135
  br i1 %136, label %264, label %186

137:
  %138 = getelementptr inbounds i64, ptr %7, i64 %21
  store double 0.000000e+00, ptr %5, align 8
  %139 = icmp eq i32 %23, 2
  br i1 %139, label %151, label %140

140:
  %141 = getelementptr inbounds i8, ptr %24, i64 64
  %142 = load i64, ptr %141, align 8
  %143 = getelementptr inbounds i8, ptr %22, i64 64
  %144 = load i64, ptr %143, align 8
  %145 = icmp slt i64 %142, %144
  %146 = bitcast i64 %142 to double
  br i1 %145, label %183, label %147

147:
  %148 = getelementptr inbounds i8, ptr %22, i64 72
  %149 = load i64, ptr %148, align 8
  %150 = icmp sgt i64 %142, %149
  br i1 %150, label %183, label %158

151:
  %152 = getelementptr inbounds i8, ptr %22, i64 16
  %153 = load i32, ptr %152, align 8
  %154 = icmp eq i32 %153, 0
  br i1 %154, label %155, label %162

155:
  %156 = getelementptr inbounds i8, ptr %24, i64 64
  %157 = load double, ptr %156, align 8
  br label %184

158:
  %159 = getelementptr inbounds i8, ptr %22, i64 16
  %160 = load i32, ptr %159, align 8
  %161 = icmp eq i32 %160, 0
  br i1 %161, label %184, label %165

162:
  %163 = getelementptr inbounds i8, ptr %24, i64 72
  %164 = load double, ptr %163, align 8
  br label %167

165:
  %166 = sitofp i64 %142 to double
  br label %167

167:
  %168 = phi i32 [ %153, %162 ], [ %160, %165 ]
  %169 = phi double [ %164, %162 ], [ %166, %165 ]
  %170 = fcmp olt double %169, 0.000000e+00
  %171 = fneg double %169
  %172 = select i1 %170, double %171, double %169
  %173 = getelementptr inbounds i8, ptr %22, i64 80
  %174 = load double, ptr %173, align 8
  %175 = fcmp ole double %172, %174
  %176 = fcmp oeq double %172, 0x7FF0000000000000
  %177 = or i1 %175, %176
  br i1 %177, label %178, label %183

178:
  %179 = icmp eq i32 %168, 1
  br i1 %179, label %180, label %184

180:
  %181 = fptrunc double %169 to float
  store float %181, ptr %5, align 8
  %182 = load double, ptr %5, align 8
  br label %184

183:
  br label %264

184:
  %185 = phi double [ %146, %158 ], [ %182, %180 ], [ %157, %155 ], [ %169, %178 ]
  store double %185, ptr %138, align 8
  br label %186

186:
  %187 = phi i32 [ %30, %97 ], [ %20, %184 ], [ %30, %125 ]
  %188 = add nuw nsw i64 %21, 1
  %189 = icmp eq i64 %188, %2
  br i1 %189, label %190, label %19

190:
  %191 = icmp sgt i32 %187, 1
  br i1 %191, label %192, label %226

192:
  %193 = zext nneg i32 %187 to i64
  br label %194

194:
  %195 = phi i64 [ 1, %192 ], [ %224, %223 ]
  %196 = getelementptr inbounds %struct.span, ptr %6, i64 %195
  %197 = getelementptr inbounds i8, ptr %196, i64 16
  %198 = load i64, ptr %197, align 8
  %199 = getelementptr inbounds i8, ptr %196, i64 8
  br label %200

200:
  %201 = phi i64 [ 0, %194 ], [ %221, %220 ]
  %202 = getelementptr inbounds %struct.span, ptr %6, i64 %201
  %203 = getelementptr inbounds i8, ptr %202, i64 16
  %204 = load i64, ptr %203, align 8
  %205 = or i64 %204, %198
  %206 = icmp eq i64 %205, 0
  br i1 %206, label %220, label %207

207:
  %208 = load i64, ptr %196, align 8
  %209 = getelementptr inbounds i8, ptr %202, i64 8
  %210 = load i64, ptr %209, align 8
  %211 = icmp ult i64 %208, %210
  br i1 %211, label %212, label %220

212:
  %213 = load i64, ptr %202, align 8
  %214 = load i64, ptr %199, align 8
  %215 = icmp uge i64 %213, %214
  %216 = icmp eq i64 %208, %214
  %217 = or i1 %215, %216
  %218 = icmp eq i64 %213, %210
  %219 = or i1 %218, %217
  br i1 %219, label %220, label %264

220:
  %221 = add nuw nsw i64 %201, 1
  %222 = icmp eq i64 %221, %195
  br i1 %222, label %223, label %200

223:
  %224 = add nuw nsw i64 %195, 1
  %225 = icmp eq i64 %224, %193
  br i1 %225, label %226, label %194

226:
  %227 = getelementptr inbounds i8, ptr %0, i64 4
  %228 = load i32, ptr %227, align 4
  %229 = icmp sgt i32 %228, 0
  br i1 %229, label %230, label %234

230:
  %231 = getelementptr inbounds i8, ptr %0, i64 96
  %232 = load ptr, ptr %231, align 8
  %233 = zext nneg i32 %228 to i64
  br label %238

234:
  br i1 %12, label %235, label %264

235:
  %236 = getelementptr inbounds i8, ptr %0, i64 104
  %237 = load ptr, ptr %236, align 8
  br label %245

238:
  %239 = phi i64 [ 0, %230 ], [ %243, %238 ]
  %240 = getelementptr inbounds i64, ptr %232, i64 %239
  %241 = load i64, ptr %240, align 8
  %242 = getelementptr inbounds i64, ptr %3, i64 %239
  store i64 %241, ptr %242, align 8
  %243 = add nuw nsw i64 %239, 1
  %244 = icmp eq i64 %243, %233
  br i1 %244, label %234, label %238

245:
  %246 = phi i64 [ 0, %235 ], [ %262, %261 ]
  %247 = getelementptr inbounds %struct.argument, ptr %237, i64 %246
  %248 = getelementptr inbounds i8, ptr %247, i64 4
  %249 = load i32, ptr %248, align 4
  %250 = icmp sgt i32 %249, -1
  br i1 %250, label %251, label %261

251:
  %252 = load i32, ptr %247, align 8
  %253 = icmp eq i32 %252, 4
  %254 = getelementptr inbounds %struct.seen, ptr %1, i64 %246
  %255 = getelementptr inbounds i8, ptr %254, i64 40
  %256 = getelementptr inbounds i64, ptr %7, i64 %246
  %257 = select i1 %253, ptr %255, ptr %256
  %258 = load i64, ptr %257, align 8
  %259 = zext nneg i32 %249 to i64
  %260 = getelementptr inbounds i64, ptr %3, i64 %259
  store i64 %258, ptr %260, align 8
  br label %261

261:
  %262 = add nuw nsw i64 %246, 1
  %263 = icmp eq i64 %262, %2
  br i1 %263, label %264, label %245

264:
  %265 = phi i32 [ 0, %114 ], [ 0, %83 ], [ 0, %4 ], [ 1, %234 ], [ 0, %212 ], [ 0, %183 ], [ 1, %261 ], [ 0, %19 ], [ 0, %53 ], [ 0, %42 ], [ 0, %62 ], [ 0, %69 ], [ 0, %29 ], [ 0, %48 ], [ 0, %125 ], [ 0, %90 ]
  ret i32 %265
}

define internal fastcc range(i32 0, 3) i32 @start(ptr readonly %0, ptr %1, ptr %2) unnamed_addr nounwind {
  %4 = alloca [160 x ptr], align 16
  %5 = alloca ptr, align 8
  %6 = alloca ptr, align 8
  %7 = getelementptr inbounds i8, ptr %0, i64 64
  %8 = load ptr, ptr %7, align 8
  store ptr %8, ptr %5, align 8
  store ptr null, ptr %6, align 8
  %9 = getelementptr inbounds i8, ptr %0, i64 52
  %10 = load i32, ptr %9, align 4
  %11 = icmp eq i32 %10, 0
  br i1 %11, label %101, label %12

12:
  %13 = getelementptr inbounds i8, ptr %0, i64 44
  %14 = load i32, ptr %13, align 4
  %15 = icmp eq i32 %14, 0
  br i1 %15, label %32, label %16

16:
  %17 = load ptr, ptr @runtime, align 8
  %18 = getelementptr inbounds i8, ptr %17, i64 200
  %19 = load ptr, ptr %18, align 8
  %20 = icmp eq ptr %19, null
  br i1 %20, label %101, label %21

21:
  %22 = getelementptr inbounds i8, ptr %0, i64 8
  %23 = load i32, ptr %22, align 8
  %24 = getelementptr inbounds i8, ptr %0, i64 12
  %25 = load i32, ptr %24, align 4
  %26 = call i32 %19(i32 %23, i32 %25, ptr %5)
  %27 = icmp eq i32 %26, 0
  br i1 %27, label %32, label %28

28:
  %29 = load ptr, ptr @runtime, align 8
  %30 = getelementptr inbounds i8, ptr %29, i64 144
  %31 = load ptr, ptr %30, align 8
  call void %31()
  br label %101

32:
  %33 = getelementptr inbounds i8, ptr %0, i64 88
  %34 = load ptr, ptr %33, align 8
  %35 = icmp eq ptr %34, null
  br i1 %35, label %44, label %36

36:
  %37 = call i32 %34(ptr %6)
  %38 = icmp eq i32 %37, 0
  br i1 %38, label %39, label %101

39:
  %40 = load ptr, ptr %6, align 8
  %41 = getelementptr inbounds i8, ptr %0, i64 72
  %42 = load ptr, ptr %41, align 8
  %43 = icmp eq ptr %40, %42
  br i1 %43, label %44, label %101

44:
  %45 = getelementptr inbounds i8, ptr %0, i64 4
  %46 = load i32, ptr %45, align 4
  %47 = icmp sgt i32 %46, 0
  br i1 %47, label %48, label %50

48:
  %49 = zext nneg i32 %46 to i64
  br label %54

50:
  %51 = getelementptr inbounds i8, ptr %0, i64 48
  %52 = load i32, ptr %51, align 8
  %53 = icmp eq i32 %52, 0
  br i1 %53, label %68, label %60

54:
  %55 = phi i64 [ 0, %48 ], [ %58, %54 ]
  %56 = getelementptr inbounds i64, ptr %2, i64 %55
  %57 = getelementptr inbounds ptr, ptr %4, i64 %55
  store ptr %56, ptr %57, align 8
  %58 = add nuw nsw i64 %55, 1
  %59 = icmp eq i64 %58, %49
  br i1 %59, label %50, label %54

60:
  %61 = load ptr, ptr @runtime, align 8
  %62 = getelementptr inbounds i8, ptr %61, i64 128
  %63 = load ptr, ptr %62, align 8
  call void %63(ptr %1)
  %64 = load ptr, ptr @runtime, align 8
  %65 = getelementptr inbounds i8, ptr %64, i64 152
  %66 = load ptr, ptr %65, align 8
  %67 = call ptr %66()
  br label %68

68:
  %69 = phi ptr [ %67, %60 ], [ null, %50 ]
  %70 = getelementptr inbounds i8, ptr %0, i64 80
  %71 = load ptr, ptr %70, align 8
  %72 = getelementptr inbounds i8, ptr %0, i64 56
  %73 = load ptr, ptr %72, align 8
  %74 = getelementptr inbounds i8, ptr %0, i64 16
  %75 = load i32, ptr %74, align 8
  %76 = getelementptr inbounds i8, ptr %0, i64 20
  %77 = load i32, ptr %76, align 4
  %78 = getelementptr inbounds i8, ptr %0, i64 24
  %79 = load i32, ptr %78, align 8
  %80 = getelementptr inbounds i8, ptr %0, i64 28
  %81 = load i32, ptr %80, align 4
  %82 = getelementptr inbounds i8, ptr %0, i64 32
  %83 = load i32, ptr %82, align 8
  %84 = getelementptr inbounds i8, ptr %0, i64 36
  %85 = load i32, ptr %84, align 4
  %86 = getelementptr inbounds i8, ptr %0, i64 40
  %87 = load i32, ptr %86, align 8
  %88 = load ptr, ptr %5, align 8
  %89 = call i32 %71(ptr %73, i32 %75, i32 %77, i32 %79, i32 %81, i32 %83, i32 %85, i32 %87, ptr %88, ptr %4, ptr null)
  %90 = icmp eq ptr %69, null
  br i1 %90, label %98, label %91

91:
  %92 = load ptr, ptr @runtime, align 8
  %93 = getelementptr inbounds i8, ptr %92, i64 160
  %94 = load ptr, ptr %93, align 8
  call void %94(ptr %69)
  %95 = load ptr, ptr @runtime, align 8
  %96 = getelementptr inbounds i8, ptr %95, i64 136
  %97 = load ptr, ptr %96, align 8
  call void %97(ptr %1)
  br label %98

98:
  %99 = icmp eq i32 %89, 0
  %100 = zext i1 %99 to i32
  br label %101

101:
  %102 = phi i32 [ 0, %28 ], [ 2, %16 ], [ %100, %98 ], [ 1, %3 ], [ 0, %39 ], [ 0, %36 ]
  ret i32 %102
}
