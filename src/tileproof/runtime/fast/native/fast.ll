; Made by tools/build_fast.py of fast.c, whose sha256 is 4f0c568de4d15a161db0143798a6e31712ff7086232f762494f9cd9aedc1f800

%struct.chosen = type { i64, ptr, i32, i32 }
%struct.seen = type { i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, ptr, ptr, i64, double, ptr }
%struct.launch = type { [160 x i64], [32 x %struct.span], [32 x ptr], i32, i32 }
%struct.span = type { i64, i64, i64 }
%struct.reader = type { ptr, i64, ptr, i64 }
%struct.dlpack_tensor = type { ptr, i32, i32, i32, i32, ptr, ptr, i64 }
%struct.argument = type { i32, i32, i32, i32, i32, i32, i32, i32, [2 x i64], i64, i64, i64, i64, i64, double, [8 x %struct.axis] }
%struct.axis = type { i64, [2 x i64] }
%struct.attribute = type { i32, i32, i32, [15 x i32] }
%struct.config = type { [3 x i32], [3 x i32], i32, ptr, ptr, i32 }
%struct.entry = type { i64, i64, i64 }

@runtime = internal unnamed_addr global ptr null, align 8

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
  %4 = alloca ptr, align 8
  %5 = alloca [32 x %struct.seen], align 16
  %6 = alloca %struct.launch, align 8
  %7 = alloca ptr, align 8
  %8 = getelementptr inbounds i8, ptr %2, i64 20
  br label %9

9:
  %10 = phi i32 [ 0, %3 ], [ %307, %303 ]
  %11 = load ptr, ptr @runtime, align 8
  %12 = getelementptr inbounds i8, ptr %11, i64 24
  %13 = load i64, ptr %12, align 8
  %14 = getelementptr inbounds i8, ptr %0, i64 %13
  %15 = load ptr, ptr %14, align 8
  %16 = icmp eq ptr %15, null
  br i1 %16, label %278, label %17

17:
  %18 = load i64, ptr %11, align 8
  %19 = add nsw i64 %18, -8
  %20 = getelementptr inbounds i8, ptr %15, i64 %19
  %21 = load ptr, ptr %20, align 8
  %22 = getelementptr inbounds i8, ptr %11, i64 32
  %23 = load ptr, ptr %22, align 8
  %24 = icmp eq ptr %21, %23
  br i1 %24, label %25, label %278

25:
  %26 = getelementptr inbounds i8, ptr %15, i64 %18
  %27 = load i64, ptr %26, align 8
  %28 = icmp eq i64 %27, 0
  br i1 %28, label %278, label %29

29:
  %30 = getelementptr inbounds i8, ptr %11, i64 8
  %31 = load i64, ptr %30, align 8
  %32 = getelementptr inbounds i8, ptr %15, i64 %31
  %33 = load ptr, ptr %32, align 8
  %34 = getelementptr inbounds i8, ptr %33, i64 %19
  %35 = load ptr, ptr %34, align 8
  %36 = getelementptr inbounds i8, ptr %11, i64 40
  %37 = load ptr, ptr %36, align 8
  %38 = icmp eq ptr %35, %37
  %39 = select i1 %38, ptr %15, ptr null
  %40 = getelementptr inbounds i8, ptr %1, i64 %18
  %41 = load i64, ptr %40, align 8
  %42 = icmp eq ptr %39, null
  %43 = icmp sgt i64 %41, 32
  %44 = select i1 %42, i1 true, i1 %43
  br i1 %44, label %278, label %45

45:
  %46 = getelementptr inbounds i8, ptr %11, i64 16
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr inbounds i8, ptr %33, i64 %47
  %49 = getelementptr inbounds i8, ptr %48, i64 16
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds i8, ptr %48, i64 24
  %52 = load i64, ptr %51, align 8
  %53 = or i64 %52, %50
  %54 = icmp eq i64 %53, 0
  br i1 %54, label %213, label %55

55:
  %56 = getelementptr inbounds i8, ptr %11, i64 136
  %57 = load ptr, ptr %56, align 8
  call void %57(ptr %15)
  %58 = icmp sgt i64 %41, 0
  br i1 %58, label %61, label %59

59:
  %60 = load ptr, ptr @runtime, align 8
  br label %178

61:
  %62 = phi i32 [ %152, %151 ], [ 0, %55 ]
  %63 = phi i64 [ %153, %151 ], [ 0, %55 ]
  %64 = load i64, ptr %49, align 8
  %65 = lshr i64 %64, %63
  %66 = trunc i64 %65 to i32
  %67 = and i32 %66, 1
  %68 = load i64, ptr %51, align 8
  %69 = lshr i64 %68, %63
  %70 = trunc i64 %69 to i32
  %71 = and i32 %70, 1
  %72 = or i32 %71, %67
  %73 = icmp eq i32 %72, 0
  br i1 %73, label %151, label %74

74:
  %75 = load ptr, ptr @runtime, align 8
  %76 = getelementptr inbounds i8, ptr %75, i64 8
  %77 = load i64, ptr %76, align 8
  %78 = shl nsw i64 %63, 3
  %79 = getelementptr i8, ptr %1, i64 %77
  %80 = getelementptr i8, ptr %79, i64 %78
  %81 = load ptr, ptr %80, align 8
  %82 = load i64, ptr %75, align 8
  %83 = getelementptr i8, ptr %81, i64 %82
  %84 = getelementptr i8, ptr %83, i64 -8
  %85 = load ptr, ptr %84, align 8
  %86 = getelementptr inbounds i8, ptr %75, i64 376
  %87 = getelementptr inbounds i8, ptr %75, i64 368
  %88 = load i64, ptr %87, align 8
  %89 = icmp sgt i64 %88, 0
  br i1 %89, label %93, label %151

90:
  %91 = add nuw nsw i64 %94, 1
  %92 = icmp eq i64 %91, %88
  br i1 %92, label %151, label %93

93:
  %94 = phi i64 [ %91, %90 ], [ 0, %74 ]
  %95 = getelementptr inbounds %struct.reader, ptr %86, i64 %94
  %96 = load ptr, ptr %95, align 8
  %97 = icmp eq ptr %96, %85
  br i1 %97, label %98, label %90

98:
  %99 = getelementptr inbounds i8, ptr %95, i64 8
  %100 = load i64, ptr %99, align 8
  %101 = icmp eq i64 %100, 1
  br i1 %101, label %102, label %151

102:
  store ptr %81, ptr %4, align 8
  %103 = icmp eq i32 %71, 0
  br i1 %103, label %123, label %104

104:
  %105 = getelementptr inbounds i8, ptr %75, i64 120
  %106 = load ptr, ptr %105, align 8
  %107 = getelementptr inbounds i8, ptr %75, i64 208
  %108 = load ptr, ptr %107, align 8
  %109 = call ptr %106(ptr %108, ptr %4, i64 1, ptr null)
  %110 = icmp eq ptr %109, null
  %111 = load ptr, ptr @runtime, align 8
  br i1 %110, label %112, label %115

112:
  %113 = getelementptr inbounds i8, ptr %111, i64 160
  %114 = load ptr, ptr %113, align 8
  call void %114()
  br label %118

115:
  %116 = getelementptr inbounds i8, ptr %111, i64 144
  %117 = load ptr, ptr %116, align 8
  call void %117(ptr %109)
  br label %118

118:
  %119 = load ptr, ptr @runtime, align 8
  %120 = getelementptr inbounds i8, ptr %119, i64 88
  %121 = load ptr, ptr %120, align 8
  %122 = icmp eq ptr %109, %121
  br i1 %122, label %123, label %155

123:
  %124 = phi ptr [ %119, %118 ], [ %75, %102 ]
  %125 = icmp eq i32 %67, 0
  %126 = icmp ne i32 %62, 0
  %127 = select i1 %125, i1 true, i1 %126
  br i1 %127, label %149, label %128

128:
  %129 = getelementptr inbounds i8, ptr %124, i64 128
  %130 = load ptr, ptr %129, align 8
  %131 = load ptr, ptr %4, align 8
  %132 = getelementptr inbounds i8, ptr %124, i64 200
  %133 = load ptr, ptr %132, align 8
  %134 = call ptr %130(ptr %131, ptr %133)
  %135 = icmp eq ptr %134, null
  %136 = load ptr, ptr @runtime, align 8
  br i1 %135, label %137, label %140

137:
  %138 = getelementptr inbounds i8, ptr %136, i64 160
  %139 = load ptr, ptr %138, align 8
  call void %139()
  br label %143

140:
  %141 = getelementptr inbounds i8, ptr %136, i64 144
  %142 = load ptr, ptr %141, align 8
  call void %142(ptr %134)
  br label %143

143:
  %144 = load ptr, ptr @runtime, align 8
  %145 = getelementptr inbounds i8, ptr %144, i64 88
  %146 = load ptr, ptr %145, align 8
  %147 = icmp ne ptr %134, %146
  %148 = zext i1 %147 to i32
  br label %149

149:
  %150 = phi i32 [ %148, %143 ], [ %62, %123 ]
  br label %151

151:
  %152 = phi i32 [ %150, %149 ], [ %62, %98 ], [ %62, %61 ], [ %62, %74 ], [ %62, %90 ]
  %153 = add nuw nsw i64 %63, 1
  %154 = icmp eq i64 %153, %41
  br i1 %154, label %156, label %61

155:
  br label %274

156:
  %157 = icmp eq i32 %152, 0
  %158 = load ptr, ptr @runtime, align 8
  br i1 %157, label %178, label %159

159:
  %160 = getelementptr inbounds i8, ptr %158, i64 120
  %161 = load ptr, ptr %160, align 8
  %162 = getelementptr inbounds i8, ptr %158, i64 192
  %163 = load ptr, ptr %162, align 8
  %164 = call ptr %161(ptr %163, ptr null, i64 0, ptr null)
  %165 = icmp eq ptr %164, null
  %166 = load ptr, ptr @runtime, align 8
  br i1 %165, label %167, label %170

167:
  %168 = getelementptr inbounds i8, ptr %166, i64 160
  %169 = load ptr, ptr %168, align 8
  call void %169()
  br label %173

170:
  %171 = getelementptr inbounds i8, ptr %166, i64 144
  %172 = load ptr, ptr %171, align 8
  call void %172(ptr %164)
  br label %173

173:
  %174 = load ptr, ptr @runtime, align 8
  %175 = getelementptr inbounds i8, ptr %174, i64 88
  %176 = load ptr, ptr %175, align 8
  %177 = icmp eq ptr %164, %176
  br i1 %177, label %178, label %274

178:
  %179 = phi ptr [ %60, %59 ], [ %158, %156 ], [ %174, %173 ]
  %180 = getelementptr inbounds i8, ptr %179, i64 24
  %181 = load i64, ptr %180, align 8
  %182 = getelementptr inbounds i8, ptr %0, i64 %181
  %183 = load ptr, ptr %182, align 8
  %184 = icmp eq ptr %183, null
  br i1 %184, label %208, label %185

185:
  %186 = load i64, ptr %179, align 8
  %187 = add nsw i64 %186, -8
  %188 = getelementptr inbounds i8, ptr %183, i64 %187
  %189 = load ptr, ptr %188, align 8
  %190 = getelementptr inbounds i8, ptr %179, i64 32
  %191 = load ptr, ptr %190, align 8
  %192 = icmp eq ptr %189, %191
  br i1 %192, label %193, label %208

193:
  %194 = getelementptr inbounds i8, ptr %183, i64 %186
  %195 = load i64, ptr %194, align 8
  %196 = icmp eq i64 %195, 0
  br i1 %196, label %208, label %197

197:
  %198 = getelementptr inbounds i8, ptr %179, i64 8
  %199 = load i64, ptr %198, align 8
  %200 = getelementptr inbounds i8, ptr %183, i64 %199
  %201 = load ptr, ptr %200, align 8
  %202 = getelementptr inbounds i8, ptr %201, i64 %187
  %203 = load ptr, ptr %202, align 8
  %204 = getelementptr inbounds i8, ptr %179, i64 40
  %205 = load ptr, ptr %204, align 8
  %206 = icmp eq ptr %203, %205
  %207 = select i1 %206, ptr %183, ptr null
  br label %208

208:
  %209 = phi ptr [ %207, %197 ], [ null, %193 ], [ null, %185 ], [ null, %178 ]
  %210 = icmp eq ptr %209, %39
  %211 = getelementptr inbounds i8, ptr %179, i64 144
  %212 = load ptr, ptr %211, align 8
  call void %212(ptr %15)
  br i1 %210, label %213, label %278

213:
  %214 = icmp sgt i64 %41, 0
  br i1 %214, label %221, label %250

215:
  %216 = add nuw nsw i64 %222, 1
  %217 = icmp eq i64 %216, %41
  br i1 %217, label %218, label %221

218:
  %219 = load i32, ptr %8, align 4
  %220 = icmp eq i32 %219, 0
  br i1 %220, label %238, label %250

221:
  %222 = phi i64 [ %216, %215 ], [ 0, %213 ]
  %223 = load ptr, ptr @runtime, align 8
  %224 = getelementptr inbounds i8, ptr %223, i64 8
  %225 = load i64, ptr %224, align 8
  %226 = shl nsw i64 %222, 3
  %227 = getelementptr i8, ptr %1, i64 %225
  %228 = getelementptr i8, ptr %227, i64 %226
  %229 = load ptr, ptr %228, align 8
  %230 = getelementptr inbounds %struct.seen, ptr %5, i64 %222
  %231 = call fastcc i32 @read(ptr %229, ptr %230)
  %232 = icmp eq i32 %231, 0
  br i1 %232, label %233, label %215

233:
  %234 = getelementptr inbounds i8, ptr %230, i64 4
  %235 = load i32, ptr %234, align 4
  %236 = icmp eq i32 %235, 3
  %237 = select i1 %236, i32 2, i32 0
  br label %278

238:
  %239 = phi i64 [ %248, %247 ], [ 0, %218 ]
  %240 = getelementptr inbounds %struct.seen, ptr %5, i64 %239
  %241 = load i32, ptr %240, align 8
  %242 = icmp eq i32 %241, 4
  br i1 %242, label %243, label %247

243:
  %244 = getelementptr inbounds i8, ptr %240, i64 4
  %245 = load i32, ptr %244, align 4
  %246 = icmp eq i32 %245, 1
  br i1 %246, label %278, label %247

247:
  %248 = add nuw nsw i64 %239, 1
  %249 = icmp eq i64 %248, %41
  br i1 %249, label %250, label %238

250:
  %251 = getelementptr inbounds i8, ptr %48, i64 8
  %252 = load ptr, ptr %251, align 8
  %253 = load i64, ptr %252, align 8
  %254 = getelementptr inbounds i8, ptr %48, i64 32
  %255 = getelementptr inbounds ptr, ptr %254, i64 %253
  %256 = load ptr, ptr %255, align 8
  %257 = call fastcc i32 @fits(ptr %256, ptr %5, i64 %41, ptr %6)
  %258 = icmp eq i32 %257, 0
  br i1 %258, label %259, label %280

259:
  %260 = load i64, ptr %48, align 8
  %261 = icmp sgt i64 %260, 0
  br i1 %261, label %262, label %278

262:
  %263 = phi i64 [ %272, %271 ], [ 0, %259 ]
  %264 = icmp eq i64 %263, %253
  br i1 %264, label %271, label %265

265:
  %266 = getelementptr inbounds ptr, ptr %254, i64 %263
  %267 = load ptr, ptr %266, align 8
  %268 = call fastcc i32 @fits(ptr %267, ptr %5, i64 %41, ptr %6)
  %269 = icmp eq i32 %268, 0
  br i1 %269, label %271, label %270

270:
  store i64 %263, ptr %252, align 8
  br label %280

271:
  %272 = add nuw nsw i64 %263, 1
  %273 = icmp eq i64 %272, %260
  br i1 %273, label %278, label %262

274:
  %275 = phi ptr [ %119, %155 ], [ %174, %173 ]
  %276 = getelementptr inbounds i8, ptr %275, i64 144
  %277 = load ptr, ptr %276, align 8
  call void %277(ptr %15)
  br label %278

278:
  %279 = phi i32 [ 0, %243 ], [ 0, %271 ], [ 0, %274 ], [ %237, %233 ], [ 0, %17 ], [ 0, %25 ], [ 0, %9 ], [ 0, %259 ], [ 0, %208 ], [ 0, %29 ]
  br label %301

280:
  %281 = phi ptr [ %267, %270 ], [ %256, %250 ]
  %282 = call fastcc i32 @start(ptr %281, ptr %15, ptr %1, ptr %6, ptr readonly %2, ptr %7)
  %283 = icmp eq i32 %282, 3
  br i1 %283, label %284, label %301

284:
  %285 = load ptr, ptr %7, align 8
  %286 = getelementptr inbounds i8, ptr %285, i64 8
  %287 = load i64, ptr %286, align 8
  %288 = load ptr, ptr @runtime, align 8
  %289 = getelementptr inbounds i8, ptr %288, i64 168
  %290 = load ptr, ptr %289, align 8
  %291 = call ptr %290()
  br label %292

292:
  %293 = phi i32 [ 0, %284 ], [ %298, %292 ]
  %294 = load ptr, ptr %7, align 8
  %295 = getelementptr inbounds i8, ptr %294, i64 16
  %296 = load atomic i64, ptr %295 acquire, align 8
  %297 = icmp ne i64 %296, %287
  %298 = add nuw nsw i32 %293, 1
  %299 = icmp samesign ult i32 %293, 19999
  %300 = select i1 %297, i1 %299, i1 false
  br i1 %300, label %292, label %303

301:
  %302 = phi i32 [ %279, %278 ], [ %282, %280 ]
  br label %309

303:
  %304 = load ptr, ptr @runtime, align 8
  %305 = getelementptr inbounds i8, ptr %304, i64 176
  %306 = load ptr, ptr %305, align 8
  call void %306(ptr %291)
  %307 = add nuw nsw i32 %10, 1
  %308 = icmp eq i32 %307, 8
  br i1 %308, label %309, label %9

309:
  %310 = phi i32 [ %302, %301 ], [ 0, %303 ]
  ret i32 %310
}

define ptr @tileproof_fast_follow(ptr readonly %0, ptr %1, i64 %2) nounwind {
  %4 = alloca i32, align 4
  %5 = alloca i32, align 4
  %6 = alloca ptr, align 8
  %7 = alloca ptr, align 8
  %8 = alloca ptr, align 8
  %9 = alloca ptr, align 8
  %10 = alloca i64, align 8
  %11 = alloca i32, align 4
  %12 = alloca i32, align 4
  %13 = alloca %struct.chosen, align 8
  %14 = icmp eq i64 %2, 2
  %15 = load ptr, ptr @runtime, align 8
  br i1 %14, label %16, label %33

16:
  %17 = load ptr, ptr %1, align 8
  %18 = load i64, ptr %15, align 8
  %19 = add nsw i64 %18, -8
  %20 = getelementptr inbounds i8, ptr %17, i64 %19
  %21 = load ptr, ptr %20, align 8
  %22 = getelementptr inbounds i8, ptr %15, i64 32
  %23 = load ptr, ptr %22, align 8
  %24 = icmp eq ptr %21, %23
  br i1 %24, label %25, label %33

25:
  %26 = getelementptr inbounds i8, ptr %1, i64 8
  %27 = load ptr, ptr %26, align 8
  %28 = getelementptr inbounds i8, ptr %27, i64 %19
  %29 = load ptr, ptr %28, align 8
  %30 = getelementptr inbounds i8, ptr %15, i64 64
  %31 = load ptr, ptr %30, align 8
  %32 = icmp eq ptr %29, %31
  br i1 %32, label %37, label %33

33:
  %34 = getelementptr inbounds i8, ptr %15, i64 112
  %35 = load ptr, ptr %34, align 8
  %36 = tail call ptr %35(i64 0)
  br label %422

37:
  %38 = getelementptr inbounds i8, ptr %0, i64 %18
  %39 = load i64, ptr %38, align 8
  %40 = getelementptr inbounds i8, ptr %15, i64 8
  %41 = load i64, ptr %40, align 8
  %42 = getelementptr i8, ptr %0, i64 %41
  %43 = getelementptr i8, ptr %42, i64 8
  %44 = load ptr, ptr %43, align 8
  store i64 0, ptr %10, align 8
  br label %45

45:
  %46 = phi i32 [ 0, %37 ], [ %52, %45 ]
  %47 = load ptr, ptr @runtime, align 8
  %48 = getelementptr inbounds i8, ptr %47, i64 256
  %49 = load ptr, ptr %48, align 8
  %50 = call i32 %49(ptr %44, ptr %10, ptr %8, ptr %9)
  %51 = icmp eq i32 %50, 0
  %52 = add nuw nsw i32 %46, 1
  br i1 %51, label %53, label %45

53:
  store i64 0, ptr %10, align 8
  %54 = load ptr, ptr @runtime, align 8
  %55 = getelementptr inbounds i8, ptr %54, i64 256
  %56 = load ptr, ptr %55, align 8
  %57 = call i32 %56(ptr %27, ptr %10, ptr %8, ptr %9)
  %58 = icmp eq i32 %57, 0
  br i1 %58, label %102, label %59

59:
  %60 = phi i32 [ %94, %93 ], [ %46, %53 ]
  %61 = load ptr, ptr %8, align 8
  %62 = load ptr, ptr @runtime, align 8
  %63 = getelementptr inbounds i8, ptr %62, i64 248
  %64 = load ptr, ptr %63, align 8
  %65 = call ptr %64(ptr %44, ptr %61)
  %66 = icmp eq ptr %65, null
  br i1 %66, label %67, label %71

67:
  %68 = load ptr, ptr @runtime, align 8
  %69 = getelementptr inbounds i8, ptr %68, i64 160
  %70 = load ptr, ptr %69, align 8
  call void %70()
  br label %100

71:
  %72 = load ptr, ptr %9, align 8
  %73 = load ptr, ptr @runtime, align 8
  %74 = load i64, ptr %73, align 8
  %75 = getelementptr i8, ptr %72, i64 %74
  %76 = getelementptr i8, ptr %75, i64 -8
  %77 = load ptr, ptr %76, align 8
  %78 = getelementptr inbounds i8, ptr %73, i64 48
  %79 = load ptr, ptr %78, align 8
  %80 = icmp eq ptr %77, %79
  br i1 %80, label %81, label %100

81:
  %82 = getelementptr inbounds i8, ptr %73, i64 96
  %83 = load ptr, ptr %82, align 8
  %84 = call i64 %83(ptr %72, ptr %11)
  %85 = load ptr, ptr @runtime, align 8
  %86 = getelementptr inbounds i8, ptr %85, i64 96
  %87 = load ptr, ptr %86, align 8
  %88 = call i64 %87(ptr %65, ptr %12)
  %89 = icmp ne i64 %84, %88
  %90 = load i32, ptr %11, align 4
  %91 = icmp ne i32 %90, 0
  %92 = select i1 %89, i1 true, i1 %91
  br i1 %92, label %100, label %93

93:
  %94 = add nsw i32 %60, -1
  %95 = load ptr, ptr @runtime, align 8
  %96 = getelementptr inbounds i8, ptr %95, i64 256
  %97 = load ptr, ptr %96, align 8
  %98 = call i32 %97(ptr %27, ptr %10, ptr %8, ptr %9)
  %99 = icmp eq i32 %98, 0
  br i1 %99, label %102, label %59

100:
  %101 = load ptr, ptr @runtime, align 8
  br label %403

102:
  %103 = phi i32 [ %46, %53 ], [ %94, %93 ]
  %104 = icmp eq i32 %103, 0
  %105 = load ptr, ptr @runtime, align 8
  br i1 %104, label %109, label %403

106:
  %107 = add nuw nsw i64 %111, 1
  %108 = icmp eq i64 %107, 4
  br i1 %108, label %135, label %109

109:
  %110 = phi ptr [ %131, %106 ], [ %105, %102 ]
  %111 = phi i64 [ %107, %106 ], [ 0, %102 ]
  %112 = getelementptr inbounds i8, ptr %110, i64 264
  %113 = getelementptr inbounds ptr, ptr %112, i64 %111
  %114 = load ptr, ptr %113, align 8
  %115 = icmp eq ptr %114, null
  br i1 %115, label %135, label %116

116:
  store ptr null, ptr %7, align 8
  %117 = getelementptr inbounds i8, ptr %110, i64 240
  %118 = load ptr, ptr %117, align 8
  %119 = load ptr, ptr %113, align 8
  %120 = call i32 %118(ptr %119, ptr null, ptr %7)
  %121 = icmp eq i32 %120, 0
  %122 = load ptr, ptr @runtime, align 8
  br i1 %121, label %126, label %123

123:
  %124 = getelementptr inbounds i8, ptr %122, i64 160
  %125 = load ptr, ptr %124, align 8
  call void %125()
  br label %401

126:
  %127 = getelementptr inbounds i8, ptr %122, i64 144
  %128 = load ptr, ptr %127, align 8
  %129 = load ptr, ptr %7, align 8
  call void %128(ptr %129)
  %130 = load ptr, ptr %7, align 8
  %131 = load ptr, ptr @runtime, align 8
  %132 = getelementptr inbounds i8, ptr %131, i64 224
  %133 = load ptr, ptr %132, align 8
  %134 = icmp eq ptr %130, %133
  br i1 %134, label %106, label %401

135:
  %136 = phi ptr [ %131, %106 ], [ %110, %109 ]
  %137 = getelementptr inbounds i8, ptr %136, i64 296
  %138 = load ptr, ptr %137, align 8
  %139 = getelementptr inbounds i8, ptr %136, i64 304
  %140 = load ptr, ptr %139, align 8
  %141 = getelementptr inbounds i8, ptr %136, i64 248
  %142 = load ptr, ptr %141, align 8
  %143 = call ptr %142(ptr %138, ptr %140)
  %144 = icmp eq ptr %143, null
  br i1 %144, label %145, label %401

145:
  %146 = load ptr, ptr @runtime, align 8
  %147 = getelementptr inbounds i8, ptr %146, i64 160
  %148 = load ptr, ptr %147, align 8
  call void %148()
  %149 = load ptr, ptr @runtime, align 8
  %150 = getelementptr inbounds i8, ptr %149, i64 312
  %151 = load ptr, ptr %150, align 8
  %152 = getelementptr inbounds i8, ptr %149, i64 320
  %153 = load ptr, ptr %152, align 8
  %154 = getelementptr inbounds i8, ptr %149, i64 248
  %155 = load ptr, ptr %154, align 8
  %156 = call ptr %155(ptr %151, ptr %153)
  %157 = icmp eq ptr %156, null
  br i1 %157, label %165, label %158

158:
  store ptr null, ptr %6, align 8
  %159 = load ptr, ptr @runtime, align 8
  %160 = getelementptr inbounds i8, ptr %159, i64 352
  %161 = load ptr, ptr %160, align 8
  %162 = icmp eq ptr %156, %161
  %163 = zext i1 %162 to i32
  %164 = getelementptr inbounds i8, ptr %13, i64 16
  store i32 %163, ptr %164, align 8
  br i1 %162, label %184, label %298

165:
  %166 = load ptr, ptr @runtime, align 8
  %167 = getelementptr inbounds i8, ptr %166, i64 160
  %168 = load ptr, ptr %167, align 8
  call void %168()
  store ptr null, ptr %6, align 8
  %169 = getelementptr inbounds i8, ptr %13, i64 16
  store i32 0, ptr %169, align 8
  %170 = load ptr, ptr @runtime, align 8
  %171 = getelementptr inbounds i8, ptr %170, i64 312
  %172 = load ptr, ptr %171, align 8
  %173 = getelementptr inbounds i8, ptr %170, i64 328
  %174 = load ptr, ptr %173, align 8
  %175 = getelementptr inbounds i8, ptr %170, i64 248
  %176 = load ptr, ptr %175, align 8
  %177 = call ptr %176(ptr %172, ptr %174)
  %178 = icmp eq ptr %177, null
  br i1 %178, label %179, label %298

179:
  %180 = load ptr, ptr @runtime, align 8
  %181 = getelementptr inbounds i8, ptr %180, i64 160
  %182 = load ptr, ptr %181, align 8
  call void %182()
  %183 = load ptr, ptr @runtime, align 8
  br label %184

184:
  %185 = phi ptr [ %183, %179 ], [ %159, %158 ]
  %186 = getelementptr inbounds i8, ptr %185, i64 240
  %187 = load ptr, ptr %186, align 8
  %188 = getelementptr inbounds i8, ptr %185, i64 360
  %189 = load ptr, ptr %188, align 8
  %190 = call i32 %187(ptr %189, ptr null, ptr %6)
  %191 = icmp eq i32 %190, 0
  br i1 %191, label %196, label %192

192:
  %193 = load ptr, ptr @runtime, align 8
  %194 = getelementptr inbounds i8, ptr %193, i64 160
  %195 = load ptr, ptr %194, align 8
  call void %195()
  br label %298

196:
  %197 = load ptr, ptr %6, align 8
  %198 = load ptr, ptr @runtime, align 8
  %199 = load i64, ptr %198, align 8
  %200 = getelementptr i8, ptr %197, i64 %199
  %201 = getelementptr i8, ptr %200, i64 -8
  %202 = load ptr, ptr %201, align 8
  %203 = getelementptr inbounds i8, ptr %198, i64 32
  %204 = load ptr, ptr %203, align 8
  %205 = icmp eq ptr %202, %204
  br i1 %205, label %208, label %206

206:
  %207 = getelementptr inbounds i8, ptr %13, i64 20
  store i32 0, ptr %207, align 4
  store i64 -1, ptr %13, align 8
  br label %222

208:
  %209 = load i64, ptr %200, align 8
  %210 = icmp eq i64 %209, 0
  %211 = zext i1 %210 to i32
  %212 = getelementptr inbounds i8, ptr %13, i64 20
  store i32 %211, ptr %212, align 4
  store i64 -1, ptr %13, align 8
  br i1 %210, label %299, label %213

213:
  %214 = icmp sgt i64 %209, 0
  br i1 %214, label %215, label %222

215:
  %216 = getelementptr inbounds i8, ptr %198, i64 8
  %217 = load i64, ptr %216, align 8
  %218 = shl i64 %209, 3
  %219 = getelementptr i8, ptr %197, i64 %217
  %220 = getelementptr i8, ptr %219, i64 %218
  %221 = getelementptr i8, ptr %220, i64 -8
  br label %224

222:
  %223 = getelementptr inbounds i8, ptr %198, i64 224
  br label %224

224:
  %225 = phi ptr [ %221, %215 ], [ %223, %222 ]
  %226 = load ptr, ptr %225, align 8
  %227 = getelementptr inbounds i8, ptr %198, i64 336
  %228 = load ptr, ptr %227, align 8
  %229 = getelementptr inbounds i8, ptr %198, i64 128
  %230 = load ptr, ptr %229, align 8
  %231 = call ptr %230(ptr %226, ptr %228)
  store i32 1, ptr %5, align 4
  %232 = icmp eq ptr %231, null
  %233 = load ptr, ptr @runtime, align 8
  br i1 %232, label %234, label %237

234:
  %235 = getelementptr inbounds i8, ptr %233, i64 160
  %236 = load ptr, ptr %235, align 8
  call void %236()
  br label %396

237:
  %238 = load i64, ptr %233, align 8
  %239 = getelementptr i8, ptr %231, i64 %238
  %240 = getelementptr i8, ptr %239, i64 -8
  %241 = load ptr, ptr %240, align 8
  %242 = getelementptr inbounds i8, ptr %233, i64 48
  %243 = load ptr, ptr %242, align 8
  %244 = icmp eq ptr %241, %243
  br i1 %244, label %245, label %250

245:
  %246 = getelementptr inbounds i8, ptr %233, i64 96
  %247 = load ptr, ptr %246, align 8
  %248 = call i64 %247(ptr %231, ptr %5)
  store i64 %248, ptr %13, align 8
  %249 = load ptr, ptr @runtime, align 8
  br label %250

250:
  %251 = phi ptr [ %249, %245 ], [ %233, %237 ]
  %252 = getelementptr inbounds i8, ptr %251, i64 144
  %253 = load ptr, ptr %252, align 8
  call void %253(ptr %231)
  %254 = load i32, ptr %5, align 4
  %255 = icmp eq i32 %254, 0
  br i1 %255, label %256, label %396

256:
  %257 = load ptr, ptr @runtime, align 8
  %258 = getelementptr inbounds i8, ptr %257, i64 344
  %259 = load ptr, ptr %258, align 8
  %260 = getelementptr inbounds i8, ptr %257, i64 128
  %261 = load ptr, ptr %260, align 8
  %262 = call ptr %261(ptr %226, ptr %259)
  store i32 1, ptr %4, align 4
  %263 = icmp eq ptr %262, null
  %264 = load ptr, ptr @runtime, align 8
  br i1 %263, label %265, label %272

265:
  %266 = getelementptr inbounds i8, ptr %264, i64 160
  %267 = load ptr, ptr %266, align 8
  call void %267()
  %268 = load ptr, ptr @runtime, align 8
  %269 = getelementptr inbounds i8, ptr %268, i64 144
  %270 = load ptr, ptr %269, align 8
  %271 = load ptr, ptr %6, align 8
  call void %270(ptr %271)
  br label %401

272:
  %273 = load i64, ptr %264, align 8
  %274 = getelementptr i8, ptr %262, i64 %273
  %275 = getelementptr i8, ptr %274, i64 -8
  %276 = load ptr, ptr %275, align 8
  %277 = getelementptr inbounds i8, ptr %264, i64 48
  %278 = load ptr, ptr %277, align 8
  %279 = icmp eq ptr %276, %278
  br i1 %279, label %280, label %286

280:
  %281 = getelementptr inbounds i8, ptr %264, i64 96
  %282 = load ptr, ptr %281, align 8
  %283 = call i64 %282(ptr %262, ptr %4)
  %284 = load ptr, ptr @runtime, align 8
  %285 = inttoptr i64 %283 to ptr
  br label %286

286:
  %287 = phi ptr [ %285, %280 ], [ null, %272 ]
  %288 = phi ptr [ %284, %280 ], [ %264, %272 ]
  %289 = getelementptr inbounds i8, ptr %288, i64 144
  %290 = load ptr, ptr %289, align 8
  call void %290(ptr %262)
  %291 = load i32, ptr %4, align 4
  %292 = icmp eq i32 %291, 0
  %293 = getelementptr inbounds i8, ptr %13, i64 8
  store ptr %287, ptr %293, align 8
  %294 = load ptr, ptr @runtime, align 8
  %295 = getelementptr inbounds i8, ptr %294, i64 144
  %296 = load ptr, ptr %295, align 8
  %297 = load ptr, ptr %6, align 8
  call void %296(ptr %297)
  br i1 %292, label %303, label %401

298:
  br label %401

299:
  %300 = getelementptr inbounds i8, ptr %13, i64 8
  store ptr null, ptr %300, align 8
  %301 = getelementptr inbounds i8, ptr %198, i64 144
  %302 = load ptr, ptr %301, align 8
  call void %302(ptr %197)
  br label %303

303:
  %304 = icmp sgt i64 %39, 4
  %305 = load ptr, ptr @runtime, align 8
  br i1 %304, label %306, label %403

306:
  %307 = phi ptr [ %392, %391 ], [ %305, %303 ]
  %308 = phi i64 [ %394, %391 ], [ 4, %303 ]
  %309 = phi i64 [ %393, %391 ], [ 2, %303 ]
  %310 = getelementptr inbounds i8, ptr %307, i64 8
  %311 = load i64, ptr %310, align 8
  %312 = shl nsw i64 %309, 3
  %313 = getelementptr i8, ptr %0, i64 %311
  %314 = getelementptr i8, ptr %313, i64 %312
  %315 = load ptr, ptr %314, align 8
  %316 = getelementptr i8, ptr %314, i64 8
  %317 = load ptr, ptr %316, align 8
  %318 = load i64, ptr %307, align 8
  %319 = getelementptr inbounds i8, ptr %315, i64 %318
  %320 = load i64, ptr %319, align 8
  %321 = icmp sgt i64 %320, 2
  br i1 %321, label %326, label %358

322:
  %323 = add nuw nsw i64 %330, 3
  %324 = add nuw nsw i64 %330, 5
  %325 = icmp slt i64 %324, %320
  br i1 %325, label %326, label %358

326:
  %327 = phi i64 [ %348, %322 ], [ %311, %306 ]
  %328 = phi ptr [ %346, %322 ], [ %307, %306 ]
  %329 = phi i64 [ %324, %322 ], [ 2, %306 ]
  %330 = phi i64 [ %323, %322 ], [ 0, %306 ]
  %331 = shl nsw i64 %330, 3
  %332 = getelementptr i8, ptr %315, i64 %327
  %333 = getelementptr i8, ptr %332, i64 %331
  %334 = load ptr, ptr %333, align 8
  %335 = getelementptr i8, ptr %333, i64 8
  %336 = load ptr, ptr %335, align 8
  %337 = getelementptr inbounds i8, ptr %328, i64 248
  %338 = load ptr, ptr %337, align 8
  %339 = call ptr %338(ptr %334, ptr %336)
  %340 = icmp eq ptr %339, null
  br i1 %340, label %341, label %345

341:
  %342 = load ptr, ptr @runtime, align 8
  %343 = getelementptr inbounds i8, ptr %342, i64 160
  %344 = load ptr, ptr %343, align 8
  call void %344()
  br label %345

345:
  %346 = load ptr, ptr @runtime, align 8
  %347 = getelementptr inbounds i8, ptr %346, i64 8
  %348 = load i64, ptr %347, align 8
  %349 = shl nsw i64 %329, 3
  %350 = getelementptr i8, ptr %315, i64 %348
  %351 = getelementptr i8, ptr %350, i64 %349
  %352 = load ptr, ptr %351, align 8
  %353 = getelementptr inbounds i8, ptr %346, i64 232
  %354 = load ptr, ptr %353, align 8
  %355 = icmp eq ptr %352, %354
  %356 = select i1 %355, ptr null, ptr %352
  %357 = icmp eq ptr %339, %356
  br i1 %357, label %322, label %391

358:
  %359 = phi ptr [ %307, %306 ], [ %346, %322 ]
  %360 = getelementptr inbounds i8, ptr %359, i64 224
  %361 = load ptr, ptr %360, align 8
  %362 = icmp eq ptr %317, %361
  br i1 %362, label %380, label %363

363:
  %364 = getelementptr inbounds i8, ptr %359, i64 120
  %365 = load ptr, ptr %364, align 8
  %366 = call ptr %365(ptr %317, ptr null, i64 0, ptr null)
  %367 = icmp eq ptr %366, null
  %368 = load ptr, ptr @runtime, align 8
  br i1 %367, label %369, label %372

369:
  %370 = getelementptr inbounds i8, ptr %368, i64 160
  %371 = load ptr, ptr %370, align 8
  call void %371()
  br label %375

372:
  %373 = getelementptr inbounds i8, ptr %368, i64 144
  %374 = load ptr, ptr %373, align 8
  call void %374(ptr %366)
  br label %375

375:
  %376 = load ptr, ptr @runtime, align 8
  %377 = getelementptr inbounds i8, ptr %376, i64 80
  %378 = load ptr, ptr %377, align 8
  %379 = icmp eq ptr %366, %378
  br i1 %379, label %380, label %391

380:
  %381 = phi ptr [ %359, %358 ], [ %376, %375 ]
  %382 = getelementptr inbounds i8, ptr %381, i64 8
  %383 = load i64, ptr %382, align 8
  %384 = shl nsw i64 %308, 3
  %385 = getelementptr i8, ptr %0, i64 %383
  %386 = getelementptr i8, ptr %385, i64 %384
  %387 = load ptr, ptr %386, align 8
  %388 = call fastcc i32 @go(ptr %387, ptr %17, ptr %13)
  %389 = icmp eq i32 %388, 0
  %390 = load ptr, ptr @runtime, align 8
  br i1 %389, label %391, label %405

391:
  %392 = phi ptr [ %376, %375 ], [ %390, %380 ], [ %346, %345 ]
  %393 = add nuw nsw i64 %309, 3
  %394 = add nuw nsw i64 %309, 5
  %395 = icmp slt i64 %394, %39
  br i1 %395, label %306, label %403

396:
  %397 = load ptr, ptr @runtime, align 8
  %398 = getelementptr inbounds i8, ptr %397, i64 144
  %399 = load ptr, ptr %398, align 8
  %400 = load ptr, ptr %6, align 8
  call void %399(ptr %400)
  br label %401

401:
  %402 = load ptr, ptr @runtime, align 8
  br label %413

403:
  %404 = phi ptr [ %101, %100 ], [ %305, %303 ], [ %105, %102 ], [ %392, %391 ]
  br label %406

405:
  switch i32 %388, label %406 [
    i32 4, label %422
    i32 2, label %413
  ]

406:
  %407 = phi ptr [ %404, %403 ], [ %390, %405 ]
  %408 = phi i32 [ 0, %403 ], [ %388, %405 ]
  %409 = getelementptr inbounds i8, ptr %407, i64 112
  %410 = load ptr, ptr %409, align 8
  %411 = zext nneg i32 %408 to i64
  %412 = call ptr %410(i64 %411)
  br label %422

413:
  %414 = phi ptr [ %402, %401 ], [ %390, %405 ]
  %415 = getelementptr inbounds i8, ptr %414, i64 120
  %416 = load ptr, ptr %415, align 8
  %417 = getelementptr inbounds i8, ptr %414, i64 8
  %418 = load i64, ptr %417, align 8
  %419 = getelementptr inbounds i8, ptr %0, i64 %418
  %420 = load ptr, ptr %419, align 8
  %421 = call ptr %416(ptr %420, ptr %1, i64 2, ptr null)
  br label %422

422:
  %423 = phi ptr [ %36, %33 ], [ %421, %413 ], [ %412, %406 ], [ null, %405 ]
  ret ptr %423
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
  br label %186

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
  br label %186

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
  br label %186

42:
  %43 = getelementptr inbounds i8, ptr %5, i64 376
  %44 = getelementptr inbounds i8, ptr %5, i64 368
  %45 = load i64, ptr %44, align 8
  %46 = icmp sgt i64 %45, 0
  br i1 %46, label %50, label %186

47:
  %48 = add nuw nsw i64 %51, 1
  %49 = icmp eq i64 %48, %45
  br i1 %49, label %186, label %50

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
  switch i64 %57, label %186 [
    i64 0, label %59
    i64 1, label %83
    i64 2, label %134
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
  br label %186

83:
  %84 = getelementptr inbounds i8, ptr %3, i64 16
  store i32 0, ptr %84, align 8
  %85 = getelementptr inbounds i8, ptr %52, i64 16
  %86 = load ptr, ptr %85, align 8
  %87 = call i32 %86(ptr %0, ptr %3)
  %88 = icmp eq i32 %87, 0
  br i1 %88, label %93, label %89

89:
  %90 = load ptr, ptr @runtime, align 8
  %91 = getelementptr inbounds i8, ptr %90, i64 160
  %92 = load ptr, ptr %91, align 8
  call void %92()
  br label %132

93:
  %94 = load i32, ptr %84, align 8
  %95 = icmp sgt i32 %94, 0
  %96 = getelementptr inbounds i8, ptr %3, i64 24
  %97 = load ptr, ptr %96, align 8
  br i1 %95, label %101, label %98

98:
  %99 = getelementptr inbounds i8, ptr %3, i64 32
  %100 = load ptr, ptr %99, align 8
  br label %107

101:
  %102 = icmp ne ptr %97, null
  %103 = getelementptr inbounds i8, ptr %3, i64 32
  %104 = load ptr, ptr %103, align 8
  %105 = icmp ne ptr %104, null
  %106 = select i1 %102, i1 %105, i1 false
  br i1 %106, label %107, label %132

107:
  %108 = phi ptr [ %100, %98 ], [ %104, %101 ]
  %109 = getelementptr inbounds i8, ptr %3, i64 8
  %110 = getelementptr inbounds i8, ptr %1, i64 8
  %111 = load <2 x i32>, ptr %109, align 8
  store <2 x i32> %111, ptr %110, align 8
  %112 = load ptr, ptr %3, align 8
  %113 = ptrtoint ptr %112 to i64
  %114 = getelementptr inbounds i8, ptr %3, i64 40
  %115 = load i64, ptr %114, align 8
  %116 = add i64 %115, %113
  %117 = getelementptr inbounds i8, ptr %1, i64 40
  store i64 %116, ptr %117, align 8
  %118 = getelementptr inbounds i8, ptr %1, i64 16
  store i32 %94, ptr %118, align 8
  %119 = getelementptr inbounds i8, ptr %1, i64 48
  store ptr %97, ptr %119, align 8
  %120 = getelementptr inbounds i8, ptr %1, i64 56
  store ptr %108, ptr %120, align 8
  %121 = getelementptr inbounds i8, ptr %3, i64 20
  %122 = load i32, ptr %121, align 4
  %123 = zext i32 %122 to i64
  %124 = getelementptr inbounds i8, ptr %1, i64 32
  store i64 %123, ptr %124, align 8
  %125 = getelementptr inbounds i8, ptr %1, i64 24
  store i32 1, ptr %125, align 8
  %126 = getelementptr inbounds i8, ptr %1, i64 20
  store i32 1, ptr %126, align 4
  %127 = getelementptr inbounds i8, ptr %1, i64 80
  store ptr null, ptr %127, align 8
  %128 = icmp ne ptr %112, null
  %129 = icmp eq i64 %115, 0
  %130 = select i1 %128, i1 true, i1 %129
  %131 = zext i1 %130 to i32
  br label %132

132:
  %133 = phi i32 [ 0, %89 ], [ %131, %107 ], [ 0, %101 ]
  br label %186

134:
  %135 = getelementptr inbounds i8, ptr %52, i64 24
  %136 = load i64, ptr %135, align 8
  %137 = getelementptr inbounds i8, ptr %0, i64 %136
  %138 = load ptr, ptr %137, align 8
  %139 = icmp eq ptr %138, null
  br i1 %139, label %186, label %140

140:
  %141 = getelementptr i8, ptr %138, i64 %6
  %142 = getelementptr i8, ptr %141, i64 -8
  %143 = load ptr, ptr %142, align 8
  %144 = getelementptr inbounds i8, ptr %5, i64 40
  %145 = load ptr, ptr %144, align 8
  %146 = icmp eq ptr %143, %145
  br i1 %146, label %147, label %186

147:
  %148 = getelementptr inbounds i8, ptr %5, i64 16
  %149 = load i64, ptr %148, align 8
  %150 = getelementptr inbounds i8, ptr %138, i64 %149
  %151 = getelementptr inbounds i8, ptr %150, i64 8
  %152 = load i32, ptr %151, align 8
  %153 = getelementptr inbounds i8, ptr %1, i64 8
  store i32 %152, ptr %153, align 8
  %154 = getelementptr inbounds i8, ptr %150, i64 12
  %155 = load i32, ptr %154, align 4
  %156 = getelementptr inbounds i8, ptr %1, i64 12
  store i32 %155, ptr %156, align 4
  %157 = load i64, ptr %150, align 8
  %158 = getelementptr inbounds i8, ptr %1, i64 40
  store i64 %157, ptr %158, align 8
  %159 = getelementptr inbounds i8, ptr %150, i64 20
  %160 = load i32, ptr %159, align 4
  %161 = getelementptr inbounds i8, ptr %1, i64 16
  store i32 %160, ptr %161, align 8
  %162 = getelementptr inbounds i8, ptr %150, i64 40
  %163 = getelementptr inbounds i8, ptr %1, i64 48
  store ptr %162, ptr %163, align 8
  %164 = sext i32 %160 to i64
  %165 = getelementptr inbounds i64, ptr %162, i64 %164
  %166 = getelementptr inbounds i8, ptr %1, i64 56
  store ptr %165, ptr %166, align 8
  %167 = getelementptr inbounds i8, ptr %150, i64 16
  %168 = load i32, ptr %167, align 8
  %169 = zext i32 %168 to i64
  %170 = getelementptr inbounds i8, ptr %1, i64 32
  store i64 %169, ptr %170, align 8
  %171 = getelementptr inbounds i8, ptr %150, i64 24
  %172 = load i32, ptr %171, align 8
  %173 = getelementptr inbounds i8, ptr %1, i64 24
  store i32 %172, ptr %173, align 8
  %174 = getelementptr inbounds i8, ptr %1, i64 20
  store i32 1, ptr %174, align 4
  %175 = getelementptr inbounds i8, ptr %150, i64 32
  %176 = load ptr, ptr %175, align 8
  %177 = getelementptr inbounds i8, ptr %1, i64 80
  store ptr %176, ptr %177, align 8
  %178 = icmp eq ptr %176, null
  br i1 %178, label %186, label %179

179:
  %180 = getelementptr inbounds i8, ptr %176, i64 32
  %181 = load ptr, ptr %180, align 8
  %182 = getelementptr inbounds i8, ptr %181, i64 %6
  %183 = load i64, ptr %182, align 8
  %184 = icmp eq i64 %183, 0
  %185 = zext i1 %184 to i32
  br label %186

186:
  %187 = phi i32 [ %21, %14 ], [ 1, %26 ], [ 1, %39 ], [ %185, %179 ], [ 1, %59 ], [ %133, %132 ], [ 0, %55 ], [ 0, %134 ], [ 0, %140 ], [ 1, %147 ], [ 0, %42 ], [ 0, %47 ]
  ret i32 %187
}

define void @tileproof_fast_use(ptr %0, ptr initializes((0, 80)) %1) nounwind {
  store ptr %0, ptr @runtime, align 8
  store i64 760, ptr %1, align 8
  %3 = getelementptr inbounds i8, ptr %1, i64 8
  store i64 128, ptr %3, align 8
  %4 = getelementptr inbounds i8, ptr %1, i64 16
  store i64 288, ptr %4, align 8
  %5 = getelementptr inbounds i8, ptr %1, i64 24
  store i64 32, ptr %5, align 8
  %6 = getelementptr inbounds i8, ptr %1, i64 32
  store i64 40, ptr %6, align 8
  %7 = getelementptr inbounds i8, ptr %1, i64 40
  store i64 88, ptr %7, align 8
  %8 = getelementptr inbounds i8, ptr %1, i64 48
  store i64 32, ptr %8, align 8
  %9 = getelementptr inbounds i8, ptr %1, i64 56
  store i64 98360, ptr %9, align 8
  %10 = getelementptr inbounds i8, ptr %1, i64 64
  store i64 40, ptr %10, align 8
  %11 = getelementptr inbounds i8, ptr %1, i64 72
  store i64 72, ptr %11, align 8
  ret void
}

define internal fastcc range(i32 0, 2) i32 @fits(ptr readonly %0, ptr readonly %1, i64 range(i64 -9223372036854775808, 33) %2, ptr %3) unnamed_addr nounwind {
  %5 = alloca double, align 8
  %6 = alloca [32 x i64], align 16
  %7 = load i32, ptr %0, align 8
  %8 = sext i32 %7 to i64
  %9 = icmp eq i64 %2, %8
  br i1 %9, label %10, label %299

10:
  %11 = getelementptr inbounds i8, ptr %3, i64 2308
  store i32 0, ptr %11, align 4
  %12 = getelementptr inbounds i8, ptr %3, i64 2304
  store i32 0, ptr %12, align 8
  %13 = icmp sgt i64 %2, 0
  br i1 %13, label %14, label %261

14:
  %15 = getelementptr inbounds i8, ptr %0, i64 104
  %16 = load ptr, ptr %15, align 8
  %17 = getelementptr inbounds i8, ptr %3, i64 1280
  %18 = getelementptr inbounds i8, ptr %0, i64 8
  %19 = getelementptr inbounds i8, ptr %0, i64 12
  %20 = getelementptr inbounds i8, ptr %0, i64 44
  %21 = getelementptr inbounds i8, ptr %3, i64 2048
  br label %22

22:
  %23 = phi i32 [ 0, %14 ], [ %220, %219 ]
  %24 = phi i32 [ 0, %14 ], [ %221, %219 ]
  %25 = phi i64 [ 0, %14 ], [ %222, %219 ]
  %26 = getelementptr inbounds %struct.argument, ptr %16, i64 %25
  %27 = load i32, ptr %26, align 8
  %28 = getelementptr inbounds %struct.seen, ptr %1, i64 %25
  %29 = load i32, ptr %28, align 8
  %30 = icmp eq i32 %27, %29
  br i1 %30, label %31, label %299

31:
  %32 = icmp eq i32 %27, 4
  br i1 %32, label %33, label %170

33:
  %34 = add nsw i32 %24, 1
  store i32 %34, ptr %12, align 8
  %35 = sext i32 %24 to i64
  %36 = getelementptr inbounds %struct.span, ptr %17, i64 %35
  %37 = getelementptr inbounds i8, ptr %28, i64 20
  %38 = load i32, ptr %37, align 4
  %39 = getelementptr inbounds i8, ptr %28, i64 32
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr inbounds i8, ptr %26, i64 32
  %42 = sext i32 %38 to i64
  %43 = getelementptr inbounds i64, ptr %41, i64 %42
  %44 = load i64, ptr %43, align 8
  %45 = icmp eq i64 %40, %44
  br i1 %45, label %46, label %299

46:
  %47 = getelementptr inbounds i8, ptr %28, i64 16
  %48 = load i32, ptr %47, align 8
  %49 = getelementptr inbounds i8, ptr %26, i64 8
  %50 = load i32, ptr %49, align 8
  %51 = icmp eq i32 %48, %50
  br i1 %51, label %52, label %299

52:
  %53 = getelementptr inbounds i8, ptr %28, i64 8
  %54 = load i32, ptr %53, align 8
  %55 = load i32, ptr %18, align 8
  %56 = icmp eq i32 %54, %55
  br i1 %56, label %57, label %299

57:
  %58 = getelementptr inbounds i8, ptr %28, i64 12
  %59 = load i32, ptr %58, align 4
  %60 = load i32, ptr %19, align 4
  %61 = icmp eq i32 %59, %60
  br i1 %61, label %62, label %299

62:
  %63 = getelementptr inbounds i8, ptr %28, i64 4
  %64 = load i32, ptr %63, align 4
  %65 = icmp eq i32 %64, 1
  br i1 %65, label %66, label %69

66:
  %67 = load i32, ptr %20, align 4
  %68 = icmp eq i32 %67, 0
  br i1 %68, label %299, label %69

69:
  %70 = getelementptr inbounds i8, ptr %26, i64 12
  %71 = load i32, ptr %70, align 4
  %72 = icmp eq i32 %71, 0
  br i1 %72, label %77, label %73

73:
  %74 = getelementptr inbounds i8, ptr %28, i64 24
  %75 = load i32, ptr %74, align 8
  %76 = icmp eq i32 %75, 0
  br i1 %76, label %299, label %77

77:
  %78 = icmp sgt i32 %48, 0
  br i1 %78, label %79, label %94

79:
  %80 = getelementptr inbounds i8, ptr %28, i64 48
  %81 = load ptr, ptr %80, align 8
  %82 = getelementptr inbounds i8, ptr %26, i64 96
  %83 = zext nneg i32 %48 to i64
  br label %87

84:
  %85 = add nuw nsw i64 %88, 1
  %86 = icmp eq i64 %85, %83
  br i1 %86, label %94, label %87

87:
  %88 = phi i64 [ 0, %79 ], [ %85, %84 ]
  %89 = getelementptr inbounds i64, ptr %81, i64 %88
  %90 = load i64, ptr %89, align 8
  %91 = getelementptr inbounds %struct.axis, ptr %82, i64 %88
  %92 = load i64, ptr %91, align 8
  %93 = icmp eq i64 %90, %92
  br i1 %93, label %84, label %299

94:
  %95 = getelementptr inbounds i8, ptr %28, i64 40
  %96 = load i64, ptr %95, align 8
  %97 = getelementptr inbounds i8, ptr %26, i64 48
  %98 = load i64, ptr %97, align 8
  %99 = and i64 %98, %96
  %100 = icmp eq i64 %99, 0
  br i1 %100, label %101, label %299

101:
  %102 = getelementptr inbounds i8, ptr %36, i64 8
  store i64 %96, ptr %102, align 8
  store i64 %96, ptr %36, align 8
  %103 = sext i32 %71 to i64
  %104 = getelementptr inbounds i8, ptr %36, i64 16
  store i64 %103, ptr %104, align 8
  %105 = getelementptr inbounds i8, ptr %26, i64 20
  %106 = load i32, ptr %105, align 4
  %107 = icmp eq i32 %106, 0
  br i1 %107, label %108, label %161

108:
  br i1 %78, label %109, label %129

109:
  %110 = getelementptr inbounds i8, ptr %26, i64 96
  %111 = getelementptr inbounds i8, ptr %28, i64 56
  %112 = zext nneg i32 %48 to i64
  br label %113

113:
  %114 = phi i64 [ 0, %109 ], [ %127, %126 ]
  %115 = getelementptr inbounds %struct.axis, ptr %110, i64 %114
  %116 = load i64, ptr %115, align 8
  %117 = icmp sgt i64 %116, 1
  br i1 %117, label %118, label %126

118:
  %119 = load ptr, ptr %111, align 8
  %120 = getelementptr inbounds i64, ptr %119, i64 %114
  %121 = load i64, ptr %120, align 8
  %122 = getelementptr inbounds i8, ptr %115, i64 8
  %123 = getelementptr inbounds i64, ptr %122, i64 %42
  %124 = load i64, ptr %123, align 8
  %125 = icmp eq i64 %121, %124
  br i1 %125, label %126, label %299

126:
  %127 = add nuw nsw i64 %114, 1
  %128 = icmp eq i64 %127, %112
  br i1 %128, label %129, label %113

129:
  %130 = getelementptr inbounds i8, ptr %26, i64 56
  %131 = load i64, ptr %130, align 8
  %132 = sub i64 %96, %131
  store i64 %132, ptr %36, align 8
  %133 = getelementptr inbounds i8, ptr %26, i64 64
  %134 = load i64, ptr %133, align 8
  %135 = add i64 %134, %96
  store i64 %135, ptr %102, align 8
  %136 = icmp ult i64 %132, 65536
  br i1 %136, label %299, label %137

137:
  %138 = icmp ugt i64 %131, %96
  %139 = icmp ult i64 %135, %96
  %140 = select i1 %138, i1 true, i1 %139
  br i1 %140, label %299, label %141

141:
  %142 = getelementptr inbounds i8, ptr %28, i64 80
  %143 = load ptr, ptr %142, align 8
  %144 = icmp eq ptr %143, null
  br i1 %144, label %161, label %145

145:
  %146 = getelementptr inbounds i8, ptr %143, i64 24
  %147 = load i32, ptr %146, align 8
  %148 = icmp eq i32 %147, 0
  br i1 %148, label %161, label %149

149:
  %150 = getelementptr inbounds i8, ptr %26, i64 24
  %151 = load i32, ptr %150, align 8
  %152 = icmp eq i32 %151, 0
  br i1 %152, label %299, label %153

153:
  %154 = getelementptr inbounds i8, ptr %143, i64 8
  %155 = load i64, ptr %154, align 8
  %156 = icmp eq i64 %132, %155
  br i1 %156, label %157, label %299

157:
  %158 = getelementptr inbounds i8, ptr %143, i64 16
  %159 = load i64, ptr %158, align 8
  %160 = icmp eq i64 %135, %159
  br i1 %160, label %161, label %299

161:
  br i1 %72, label %219, label %162

162:
  %163 = getelementptr inbounds i8, ptr %28, i64 80
  %164 = load ptr, ptr %163, align 8
  %165 = icmp eq ptr %164, null
  br i1 %165, label %219, label %166

166:
  %167 = add nsw i32 %23, 1
  store i32 %167, ptr %11, align 4
  %168 = sext i32 %23 to i64
  %169 = getelementptr inbounds ptr, ptr %21, i64 %168
  store ptr %164, ptr %169, align 8
  br label %219

170:
  %171 = getelementptr inbounds i64, ptr %6, i64 %25
  store double 0.000000e+00, ptr %5, align 8
  %172 = icmp eq i32 %27, 2
  br i1 %172, label %184, label %173

173:
  %174 = getelementptr inbounds i8, ptr %28, i64 64
  %175 = load i64, ptr %174, align 8
  %176 = getelementptr inbounds i8, ptr %26, i64 72
  %177 = load i64, ptr %176, align 8
  %178 = icmp slt i64 %175, %177
  %179 = bitcast i64 %175 to double
  br i1 %178, label %216, label %180

180:
  %181 = getelementptr inbounds i8, ptr %26, i64 80
  %182 = load i64, ptr %181, align 8
  %183 = icmp sgt i64 %175, %182
  br i1 %183, label %216, label %191

184:
  %185 = getelementptr inbounds i8, ptr %26, i64 16
  %186 = load i32, ptr %185, align 8
  %187 = icmp eq i32 %186, 0
  br i1 %187, label %188, label %195

188:
  %189 = getelementptr inbounds i8, ptr %28, i64 64
  %190 = load double, ptr %189, align 8
  br label %217

191:
  %192 = getelementptr inbounds i8, ptr %26, i64 16
  %193 = load i32, ptr %192, align 8
  %194 = icmp eq i32 %193, 0
  br i1 %194, label %217, label %198

195:
  %196 = getelementptr inbounds i8, ptr %28, i64 72
  %197 = load double, ptr %196, align 8
  br label %200

198:
  %199 = sitofp i64 %175 to double
  br label %200

200:
  %201 = phi i32 [ %186, %195 ], [ %193, %198 ]
  %202 = phi double [ %197, %195 ], [ %199, %198 ]
  %203 = fcmp olt double %202, 0.000000e+00
  %204 = fneg double %202
  %205 = select i1 %203, double %204, double %202
  %206 = getelementptr inbounds i8, ptr %26, i64 88
  %207 = load double, ptr %206, align 8
  %208 = fcmp ole double %205, %207
  %209 = fcmp oeq double %205, 0x7FF0000000000000
  %210 = or i1 %208, %209
  br i1 %210, label %211, label %216

211:
  %212 = icmp eq i32 %201, 1
  br i1 %212, label %213, label %217

213:
  %214 = fptrunc double %202 to float
  store float %214, ptr %5, align 8
  %215 = load double, ptr %5, align 8
  br label %217

216:
  br label %299

217:
  %218 = phi double [ %179, %191 ], [ %215, %213 ], [ %190, %188 ], [ %202, %211 ]
  store double %218, ptr %171, align 8
  br label %219

219:
  %220 = phi i32 [ %23, %217 ], [ %23, %161 ], [ %23, %162 ], [ %167, %166 ]
  %221 = phi i32 [ %24, %217 ], [ %34, %161 ], [ %34, %162 ], [ %34, %166 ]
  %222 = add nuw nsw i64 %25, 1
  %223 = icmp eq i64 %222, %2
  br i1 %223, label %224, label %22

224:
  %225 = getelementptr inbounds i8, ptr %3, i64 1280
  %226 = icmp sgt i32 %221, 1
  br i1 %226, label %227, label %261

227:
  %228 = zext nneg i32 %221 to i64
  br label %229

229:
  %230 = phi i64 [ 1, %227 ], [ %259, %258 ]
  %231 = getelementptr inbounds %struct.span, ptr %225, i64 %230
  %232 = getelementptr inbounds i8, ptr %231, i64 16
  %233 = load i64, ptr %232, align 8
  %234 = getelementptr inbounds i8, ptr %231, i64 8
  br label %235

235:
  %236 = phi i64 [ 0, %229 ], [ %256, %255 ]
  %237 = getelementptr inbounds %struct.span, ptr %225, i64 %236
  %238 = getelementptr inbounds i8, ptr %237, i64 16
  %239 = load i64, ptr %238, align 8
  %240 = or i64 %239, %233
  %241 = icmp eq i64 %240, 0
  br i1 %241, label %255, label %242

242:
  %243 = load i64, ptr %231, align 8
  %244 = getelementptr inbounds i8, ptr %237, i64 8
  %245 = load i64, ptr %244, align 8
  %246 = icmp ult i64 %243, %245
  br i1 %246, label %247, label %255

247:
  %248 = load i64, ptr %237, align 8
  %249 = load i64, ptr %234, align 8
  %250 = icmp uge i64 %248, %249
  %251 = icmp eq i64 %243, %249
  %252 = or i1 %250, %251
  %253 = icmp eq i64 %248, %245
  %254 = or i1 %253, %252
  br i1 %254, label %255, label %299

255:
  %256 = add nuw nsw i64 %236, 1
  %257 = icmp eq i64 %256, %230
  br i1 %257, label %258, label %235

258:
  %259 = add nuw nsw i64 %230, 1
  %260 = icmp eq i64 %259, %228
  br i1 %260, label %261, label %229

261:
  %262 = getelementptr inbounds i8, ptr %0, i64 4
  %263 = load i32, ptr %262, align 4
  %264 = icmp sgt i32 %263, 0
  br i1 %264, label %265, label %269

265:
  %266 = getelementptr inbounds i8, ptr %0, i64 96
  %267 = load ptr, ptr %266, align 8
  %268 = zext nneg i32 %263 to i64
  br label %273

269:
  br i1 %13, label %270, label %299

270:
  %271 = getelementptr inbounds i8, ptr %0, i64 104
  %272 = load ptr, ptr %271, align 8
  br label %280

273:
  %274 = phi i64 [ 0, %265 ], [ %278, %273 ]
  %275 = getelementptr inbounds i64, ptr %267, i64 %274
  %276 = load i64, ptr %275, align 8
  %277 = getelementptr inbounds i64, ptr %3, i64 %274
  store i64 %276, ptr %277, align 8
  %278 = add nuw nsw i64 %274, 1
  %279 = icmp eq i64 %278, %268
  br i1 %279, label %269, label %273

280:
  %281 = phi i64 [ 0, %270 ], [ %297, %296 ]
  %282 = getelementptr inbounds %struct.argument, ptr %272, i64 %281
  %283 = getelementptr inbounds i8, ptr %282, i64 4
  %284 = load i32, ptr %283, align 4
  %285 = icmp sgt i32 %284, -1
  br i1 %285, label %286, label %296

286:
  %287 = load i32, ptr %282, align 8
  %288 = icmp eq i32 %287, 4
  %289 = getelementptr inbounds %struct.seen, ptr %1, i64 %281
  %290 = getelementptr inbounds i8, ptr %289, i64 40
  %291 = getelementptr inbounds i64, ptr %6, i64 %281
  %292 = select i1 %288, ptr %290, ptr %291
  %293 = load i64, ptr %292, align 8
  %294 = zext nneg i32 %284 to i64
  %295 = getelementptr inbounds i64, ptr %3, i64 %294
  store i64 %293, ptr %295, align 8
  br label %296

296:
  %297 = add nuw nsw i64 %281, 1
  %298 = icmp eq i64 %297, %2
  br i1 %298, label %299, label %280

299:
  %300 = phi i32 [ 0, %87 ], [ 0, %247 ], [ 0, %4 ], [ 0, %216 ], [ 1, %269 ], [ 0, %118 ], [ 1, %296 ], [ 0, %157 ], [ 0, %22 ], [ 0, %52 ], [ 0, %33 ], [ 0, %73 ], [ 0, %94 ], [ 0, %129 ], [ 0, %66 ], [ 0, %46 ], [ 0, %57 ], [ 0, %137 ], [ 0, %153 ], [ 0, %149 ]
  ret i32 %300
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
