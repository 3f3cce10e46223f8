; Made by tools/build_fast.py of fast.c, whose sha256 is 8dd5fd1555c8d6c38ad74e19784e8575ba022bf153cbe0a00e05cd2ce5faa290

%struct.chosen = type { i64, ptr, i32, i32 }
%struct.seen = type { i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, ptr, ptr, i64, double, ptr }
%struct.launch = type { [160 x i64], [32 x %struct.span], [32 x ptr], i32, i32 }
%struct.span = type { i64, i64, i64 }
%struct.reader = type { ptr, i64, ptr, i64 }
%struct.dlpack_tensor = type { ptr, i32, i32, i32, i32, ptr, ptr, i64 }
%struct.argument = type { i32, i32, i32, i32, i32, i32, i32, i32, [2 x i64], i64, i64, i64, i64, i64, double, [8 x %struct.axis] }
%struct.axis = type { i64, [2 x i64] }
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
  br label %102

36:
  %37 = icmp eq i64 %2, 4
  br i1 %37, label %38, label %76

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
  br label %102

56:
  %57 = getelementptr inbounds i8, ptr %15, i64 96
  %58 = load ptr, ptr %57, align 8
  %59 = call i64 %58(ptr %40, ptr %5)
  store i64 %59, ptr %4, align 8
  %60 = load ptr, ptr @runtime, align 8
  %61 = getelementptr inbounds i8, ptr %60, i64 96
  %62 = load ptr, ptr %61, align 8
  %63 = load ptr, ptr %47, align 8
  %64 = call i64 %62(ptr %63, ptr %5)
  %65 = inttoptr i64 %64 to ptr
  store ptr %65, ptr %6, align 8
  %66 = load i32, ptr %5, align 4
  %67 = icmp eq i32 %66, 0
  br i1 %67, label %68, label %71

68:
  %69 = load ptr, ptr %1, align 8
  %70 = load ptr, ptr %24, align 8
  br label %76

71:
  %72 = load ptr, ptr @runtime, align 8
  %73 = getelementptr inbounds i8, ptr %72, i64 112
  %74 = load ptr, ptr %73, align 8
  %75 = call ptr %74(i64 0)
  br label %102

76:
  %77 = phi ptr [ %70, %68 ], [ %25, %36 ]
  %78 = phi ptr [ %69, %68 ], [ %14, %36 ]
  %79 = call fastcc i32 @go(ptr %78, ptr %77, ptr %4)
  %80 = icmp eq i32 %79, 2
  %81 = load ptr, ptr @runtime, align 8
  br i1 %80, label %87, label %82

82:
  %83 = getelementptr inbounds i8, ptr %81, i64 112
  %84 = load ptr, ptr %83, align 8
  %85 = zext nneg i32 %79 to i64
  %86 = call ptr %84(i64 %85)
  br label %102

87:
  %88 = getelementptr inbounds i8, ptr %81, i64 120
  %89 = load ptr, ptr %88, align 8
  %90 = getelementptr inbounds i8, ptr %81, i64 176
  %91 = load ptr, ptr %90, align 8
  %92 = call ptr %89(ptr %91, ptr %1, i64 %2, ptr null)
  %93 = icmp eq ptr %92, null
  br i1 %93, label %94, label %102

94:
  %95 = load ptr, ptr @runtime, align 8
  %96 = getelementptr inbounds i8, ptr %95, i64 152
  %97 = load ptr, ptr %96, align 8
  call void %97()
  %98 = load ptr, ptr @runtime, align 8
  %99 = getelementptr inbounds i8, ptr %98, i64 112
  %100 = load ptr, ptr %99, align 8
  %101 = call ptr %100(i64 0)
  br label %102

102:
  %103 = phi ptr [ %35, %31 ], [ %55, %52 ], [ %75, %71 ], [ %86, %82 ], [ %101, %94 ], [ %92, %87 ]
  ret ptr %103
}

define internal fastcc range(i32 0, 3) i32 @go(ptr readonly %0, ptr readonly %1, ptr readonly %2) unnamed_addr nounwind {
  %4 = alloca ptr, align 8
  %5 = alloca [32 x %struct.seen], align 16
  %6 = alloca %struct.launch, align 8
  br label %7

7:
  %8 = phi i32 [ 0, %3 ], [ %274, %267 ]
  %9 = load ptr, ptr @runtime, align 8
  %10 = getelementptr inbounds i8, ptr %9, i64 24
  %11 = load i64, ptr %10, align 8
  %12 = getelementptr inbounds i8, ptr %0, i64 %11
  %13 = load ptr, ptr %12, align 8
  %14 = icmp eq ptr %13, null
  br i1 %14, label %261, label %15

15:
  %16 = load i64, ptr %9, align 8
  %17 = add nsw i64 %16, -8
  %18 = getelementptr inbounds i8, ptr %13, i64 %17
  %19 = load ptr, ptr %18, align 8
  %20 = getelementptr inbounds i8, ptr %9, i64 32
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %19, %21
  br i1 %22, label %23, label %261

23:
  %24 = getelementptr inbounds i8, ptr %13, i64 %16
  %25 = load i64, ptr %24, align 8
  %26 = icmp eq i64 %25, 0
  br i1 %26, label %261, label %27

27:
  %28 = getelementptr inbounds i8, ptr %9, i64 8
  %29 = load i64, ptr %28, align 8
  %30 = getelementptr inbounds i8, ptr %13, i64 %29
  %31 = load ptr, ptr %30, align 8
  %32 = getelementptr inbounds i8, ptr %31, i64 %17
  %33 = load ptr, ptr %32, align 8
  %34 = getelementptr inbounds i8, ptr %9, i64 40
  %35 = load ptr, ptr %34, align 8
  %36 = icmp eq ptr %33, %35
  %37 = select i1 %36, ptr %13, ptr null
  %38 = getelementptr inbounds i8, ptr %1, i64 %16
  %39 = load i64, ptr %38, align 8
  %40 = icmp eq ptr %37, null
  %41 = icmp sgt i64 %39, 32
  %42 = select i1 %40, i1 true, i1 %41
  br i1 %42, label %261, label %43

43:
  %44 = getelementptr inbounds i8, ptr %9, i64 16
  %45 = load i64, ptr %44, align 8
  %46 = getelementptr inbounds i8, ptr %31, i64 %45
  %47 = getelementptr inbounds i8, ptr %46, i64 16
  %48 = load i64, ptr %47, align 8
  %49 = getelementptr inbounds i8, ptr %46, i64 24
  %50 = load i64, ptr %49, align 8
  %51 = or i64 %50, %48
  %52 = icmp eq i64 %51, 0
  br i1 %52, label %211, label %53

53:
  %54 = getelementptr inbounds i8, ptr %9, i64 136
  %55 = load ptr, ptr %54, align 8
  call void %55(ptr %13)
  %56 = icmp sgt i64 %39, 0
  br i1 %56, label %59, label %57

57:
  %58 = load ptr, ptr @runtime, align 8
  br label %176

59:
  %60 = phi i32 [ %150, %149 ], [ 0, %53 ]
  %61 = phi i64 [ %151, %149 ], [ 0, %53 ]
  %62 = load i64, ptr %47, align 8
  %63 = lshr i64 %62, %61
  %64 = trunc i64 %63 to i32
  %65 = and i32 %64, 1
  %66 = load i64, ptr %49, align 8
  %67 = lshr i64 %66, %61
  %68 = trunc i64 %67 to i32
  %69 = and i32 %68, 1
  %70 = or i32 %69, %65
  %71 = icmp eq i32 %70, 0
  br i1 %71, label %149, label %72

72:
  %73 = load ptr, ptr @runtime, align 8
  %74 = getelementptr inbounds i8, ptr %73, i64 8
  %75 = load i64, ptr %74, align 8
  %76 = shl nsw i64 %61, 3
  %77 = getelementptr i8, ptr %1, i64 %75
  %78 = getelementptr i8, ptr %77, i64 %76
  %79 = load ptr, ptr %78, align 8
  %80 = load i64, ptr %73, align 8
  %81 = getelementptr i8, ptr %79, i64 %80
  %82 = getelementptr i8, ptr %81, i64 -8
  %83 = load ptr, ptr %82, align 8
  %84 = getelementptr inbounds i8, ptr %73, i64 368
  %85 = getelementptr inbounds i8, ptr %73, i64 360
  %86 = load i64, ptr %85, align 8
  %87 = icmp sgt i64 %86, 0
  br i1 %87, label %91, label %149

88:
  %89 = add nuw nsw i64 %92, 1
  %90 = icmp eq i64 %89, %86
  br i1 %90, label %149, label %91

91:
  %92 = phi i64 [ %89, %88 ], [ 0, %72 ]
  %93 = getelementptr inbounds %struct.reader, ptr %84, i64 %92
  %94 = load ptr, ptr %93, align 8
  %95 = icmp eq ptr %94, %83
  br i1 %95, label %96, label %88

96:
  %97 = getelementptr inbounds i8, ptr %93, i64 8
  %98 = load i64, ptr %97, align 8
  %99 = icmp eq i64 %98, 1
  br i1 %99, label %100, label %149

100:
  store ptr %79, ptr %4, align 8
  %101 = icmp eq i32 %69, 0
  br i1 %101, label %121, label %102

102:
  %103 = getelementptr inbounds i8, ptr %73, i64 120
  %104 = load ptr, ptr %103, align 8
  %105 = getelementptr inbounds i8, ptr %73, i64 200
  %106 = load ptr, ptr %105, align 8
  %107 = call ptr %104(ptr %106, ptr %4, i64 1, ptr null)
  %108 = icmp eq ptr %107, null
  %109 = load ptr, ptr @runtime, align 8
  br i1 %108, label %110, label %113

110:
  %111 = getelementptr inbounds i8, ptr %109, i64 152
  %112 = load ptr, ptr %111, align 8
  call void %112()
  br label %116

113:
  %114 = getelementptr inbounds i8, ptr %109, i64 144
  %115 = load ptr, ptr %114, align 8
  call void %115(ptr %107)
  br label %116

116:
  %117 = load ptr, ptr @runtime, align 8
  %118 = getelementptr inbounds i8, ptr %117, i64 88
  %119 = load ptr, ptr %118, align 8
  %120 = icmp eq ptr %107, %119
  br i1 %120, label %121, label %153

121:
  %122 = phi ptr [ %117, %116 ], [ %73, %100 ]
  %123 = icmp eq i32 %65, 0
  %124 = icmp ne i32 %60, 0
  %125 = select i1 %123, i1 true, i1 %124
  br i1 %125, label %147, label %126

126:
  %127 = getelementptr inbounds i8, ptr %122, i64 128
  %128 = load ptr, ptr %127, align 8
  %129 = load ptr, ptr %4, align 8
  %130 = getelementptr inbounds i8, ptr %122, i64 192
  %131 = load ptr, ptr %130, align 8
  %132 = call ptr %128(ptr %129, ptr %131)
  %133 = icmp eq ptr %132, null
  %134 = load ptr, ptr @runtime, align 8
  br i1 %133, label %135, label %138

135:
  %136 = getelementptr inbounds i8, ptr %134, i64 152
  %137 = load ptr, ptr %136, align 8
  call void %137()
  br label %141

138:
  %139 = getelementptr inbounds i8, ptr %134, i64 144
  %140 = load ptr, ptr %139, align 8
  call void %140(ptr %132)
  br label %141

141:
  %142 = load ptr, ptr @runtime, align 8
  %143 = getelementptr inbounds i8, ptr %142, i64 88
  %144 = load ptr, ptr %143, align 8
  %145 = icmp ne ptr %132, %144
  %146 = zext i1 %145 to i32
  br label %147

147:
  %148 = phi i32 [ %146, %141 ], [ %60, %121 ]
  br label %149

149:
  %150 = phi i32 [ %148, %147 ], [ %60, %96 ], [ %60, %59 ], [ %60, %72 ], [ %60, %88 ]
  %151 = add nuw nsw i64 %61, 1
  %152 = icmp eq i64 %151, %39
  br i1 %152, label %154, label %59

153:
  br label %257

154:
  %155 = icmp eq i32 %150, 0
  %156 = load ptr, ptr @runtime, align 8
  br i1 %155, label %176, label %157

157:
  %158 = getelementptr inbounds i8, ptr %156, i64 120
  %159 = load ptr, ptr %158, align 8
  %160 = getelementptr inbounds i8, ptr %156, i64 184
  %161 = load ptr, ptr %160, align 8
  %162 = call ptr %159(ptr %161, ptr null, i64 0, ptr null)
  %163 = icmp eq ptr %162, null
  %164 = load ptr, ptr @runtime, align 8
  br i1 %163, label %165, label %168

165:
  %166 = getelementptr inbounds i8, ptr %164, i64 152
  %167 = load ptr, ptr %166, align 8
  call void %167()
  br label %171

168:
  %169 = getelementptr inbounds i8, ptr %164, i64 144
  %170 = load ptr, ptr %169, align 8
  call void %170(ptr %162)
  br label %171

171:
  %172 = load ptr, ptr @runtime, align 8
  %173 = getelementptr inbounds i8, ptr %172, i64 88
  %174 = load ptr, ptr %173, align 8
  %175 = icmp eq ptr %162, %174
  br i1 %175, label %176, label %257

176:
  %177 = phi ptr [ %58, %57 ], [ %156, %154 ], [ %172, %171 ]
  %178 = getelementptr inbounds i8, ptr %177, i64 24
  %179 = load i64, ptr %178, align 8
  %180 = getelementptr inbounds i8, ptr %0, i64 %179
  %181 = load ptr, ptr %180, align 8
  %182 = icmp eq ptr %181, null
  br i1 %182, label %206, label %183

183:
  %184 = load i64, ptr %177, align 8
  %185 = add nsw i64 %184, -8
  %186 = getelementptr inbounds i8, ptr %181, i64 %185
  %187 = load ptr, ptr %186, align 8
  %188 = getelementptr inbounds i8, ptr %177, i64 32
  %189 = load ptr, ptr %188, align 8
  %190 = icmp eq ptr %187, %189
  br i1 %190, label %191, label %206

191:
  %192 = getelementptr inbounds i8, ptr %181, i64 %184
  %193 = load i64, ptr %192, align 8
  %194 = icmp eq i64 %193, 0
  br i1 %194, label %206, label %195

195:
  %196 = getelementptr inbounds i8, ptr %177, i64 8
  %197 = load i64, ptr %196, align 8
  %198 = getelementptr inbounds i8, ptr %181, i64 %197
  %199 = load ptr, ptr %198, align 8
  %200 = getelementptr inbounds i8, ptr %199, i64 %185
  %201 = load ptr, ptr %200, align 8
  %202 = getelementptr inbounds i8, ptr %177, i64 40
  %203 = load ptr, ptr %202, align 8
  %204 = icmp eq ptr %201, %203
  %205 = select i1 %204, ptr %181, ptr null
  br label %206

206:
  %207 = phi ptr [ %205, %195 ], [ null, %191 ], [ null, %183 ], [ null, %176 ]
  %208 = icmp eq ptr %207, %37
  %209 = getelementptr inbounds i8, ptr %177, i64 144
  %210 = load ptr, ptr %209, align 8
  call void %210(ptr %13)
  br i1 %208, label %211, label %261

211:
  %212 = icmp sgt i64 %39, 0
  br i1 %212, label %216, label %233

213:
  %214 = add nuw nsw i64 %217, 1
  %215 = icmp eq i64 %214, %39
  br i1 %215, label %233, label %216

216:
  %217 = phi i64 [ %214, %213 ], [ 0, %211 ]
  %218 = load ptr, ptr @runtime, align 8
  %219 = getelementptr inbounds i8, ptr %218, i64 8
  %220 = load i64, ptr %219, align 8
  %221 = shl nsw i64 %217, 3
  %222 = getelementptr i8, ptr %1, i64 %220
  %223 = getelementptr i8, ptr %222, i64 %221
  %224 = load ptr, ptr %223, align 8
  %225 = getelementptr inbounds %struct.seen, ptr %5, i64 %217
  %226 = call fastcc i32 @read(ptr %224, ptr %225)
  %227 = icmp eq i32 %226, 0
  br i1 %227, label %228, label %213

228:
  %229 = getelementptr inbounds i8, ptr %225, i64 4
  %230 = load i32, ptr %229, align 4
  %231 = icmp eq i32 %230, 3
  %232 = select i1 %231, i32 2, i32 0
  br label %261

233:
  %234 = getelementptr inbounds i8, ptr %46, i64 8
  %235 = load ptr, ptr %234, align 8
  %236 = load i64, ptr %235, align 8
  %237 = getelementptr inbounds i8, ptr %46, i64 32
  %238 = getelementptr inbounds ptr, ptr %237, i64 %236
  %239 = load ptr, ptr %238, align 8
  %240 = call fastcc i32 @fits(ptr %239, ptr %5, i64 %39, ptr %6)
  %241 = icmp eq i32 %240, 0
  br i1 %241, label %242, label %263

242:
  %243 = load i64, ptr %46, align 8
  %244 = icmp sgt i64 %243, 0
  br i1 %244, label %245, label %261

245:
  %246 = phi i64 [ %255, %254 ], [ 0, %242 ]
  %247 = icmp eq i64 %246, %236
  br i1 %247, label %254, label %248

248:
  %249 = getelementptr inbounds ptr, ptr %237, i64 %246
  %250 = load ptr, ptr %249, align 8
  %251 = call fastcc i32 @fits(ptr %250, ptr %5, i64 %39, ptr %6)
  %252 = icmp eq i32 %251, 0
  br i1 %252, label %254, label %253

253:
  store i64 %246, ptr %235, align 8
  br label %263

254:
  %255 = add nuw nsw i64 %246, 1
  %256 = icmp eq i64 %255, %243
  br i1 %256, label %261, label %245

257:
  %258 = phi ptr [ %117, %153 ], [ %172, %171 ]
  %259 = getelementptr inbounds i8, ptr %258, i64 144
  %260 = load ptr, ptr %259, align 8
  call void %260(ptr %13)
  br label %261

261:
  %262 = phi i32 [ %232, %228 ], [ 0, %254 ], [ 0, %257 ], [ 0, %242 ], [ 0, %15 ], [ 0, %23 ], [ 0, %7 ], [ 0, %206 ], [ 0, %27 ]
  br label %276

263:
  %264 = phi ptr [ %250, %253 ], [ %239, %233 ]
  %265 = call fastcc i32 @start(ptr %264, ptr %13, ptr %6, ptr readonly %2)
  %266 = icmp eq i32 %265, 3
  br i1 %266, label %267, label %276

267:
  %268 = load ptr, ptr @runtime, align 8
  %269 = getelementptr inbounds i8, ptr %268, i64 168
  %270 = load ptr, ptr %269, align 8
  %271 = getelementptr inbounds i8, ptr %268, i64 160
  %272 = load ptr, ptr %271, align 8
  %273 = call ptr %272()
  call void %270(ptr %273)
  %274 = add nuw nsw i32 %8, 1
  %275 = icmp eq i32 %274, 200
  br i1 %275, label %276, label %7

276:
  %277 = phi i32 [ %262, %261 ], [ 0, %267 ], [ %265, %263 ]
  ret i32 %277
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
  %12 = alloca %struct.chosen, align 8
  %13 = icmp eq i64 %2, 2
  %14 = load ptr, ptr @runtime, align 8
  br i1 %13, label %15, label %32

15:
  %16 = load ptr, ptr %1, align 8
  %17 = load i64, ptr %14, align 8
  %18 = add nsw i64 %17, -8
  %19 = getelementptr inbounds i8, ptr %16, i64 %18
  %20 = load ptr, ptr %19, align 8
  %21 = getelementptr inbounds i8, ptr %14, i64 32
  %22 = load ptr, ptr %21, align 8
  %23 = icmp eq ptr %20, %22
  br i1 %23, label %24, label %32

24:
  %25 = getelementptr inbounds i8, ptr %1, i64 8
  %26 = load ptr, ptr %25, align 8
  %27 = getelementptr inbounds i8, ptr %26, i64 %18
  %28 = load ptr, ptr %27, align 8
  %29 = getelementptr inbounds i8, ptr %14, i64 64
  %30 = load ptr, ptr %29, align 8
  %31 = icmp eq ptr %28, %30
  br i1 %31, label %36, label %32

32:
  %33 = getelementptr inbounds i8, ptr %14, i64 112
  %34 = load ptr, ptr %33, align 8
  %35 = tail call ptr %34(i64 0)
  br label %427

36:
  %37 = getelementptr inbounds i8, ptr %0, i64 %17
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr inbounds i8, ptr %14, i64 8
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr i8, ptr %0, i64 %40
  %42 = getelementptr i8, ptr %41, i64 8
  %43 = load ptr, ptr %42, align 8
  store i64 0, ptr %10, align 8
  store i32 0, ptr %11, align 4
  br label %44

44:
  %45 = phi i32 [ 0, %36 ], [ %51, %44 ]
  %46 = load ptr, ptr @runtime, align 8
  %47 = getelementptr inbounds i8, ptr %46, i64 248
  %48 = load ptr, ptr %47, align 8
  %49 = call i32 %48(ptr %43, ptr %10, ptr %8, ptr %9)
  %50 = icmp eq i32 %49, 0
  %51 = add nuw nsw i32 %45, 1
  br i1 %50, label %52, label %44

52:
  store i64 0, ptr %10, align 8
  %53 = load ptr, ptr @runtime, align 8
  %54 = getelementptr inbounds i8, ptr %53, i64 248
  %55 = load ptr, ptr %54, align 8
  %56 = call i32 %55(ptr %26, ptr %10, ptr %8, ptr %9)
  %57 = icmp eq i32 %56, 0
  br i1 %57, label %105, label %58

58:
  %59 = phi i32 [ %95, %93 ], [ %45, %52 ]
  %60 = load ptr, ptr %8, align 8
  %61 = load ptr, ptr @runtime, align 8
  %62 = getelementptr inbounds i8, ptr %61, i64 240
  %63 = load ptr, ptr %62, align 8
  %64 = call ptr %63(ptr %43, ptr %60)
  %65 = icmp eq ptr %64, null
  br i1 %65, label %66, label %70

66:
  %67 = load ptr, ptr @runtime, align 8
  %68 = getelementptr inbounds i8, ptr %67, i64 152
  %69 = load ptr, ptr %68, align 8
  call void %69()
  br label %103

70:
  %71 = load ptr, ptr %9, align 8
  %72 = load ptr, ptr @runtime, align 8
  %73 = load i64, ptr %72, align 8
  %74 = getelementptr i8, ptr %71, i64 %73
  %75 = getelementptr i8, ptr %74, i64 -8
  %76 = load ptr, ptr %75, align 8
  %77 = getelementptr inbounds i8, ptr %72, i64 48
  %78 = load ptr, ptr %77, align 8
  %79 = icmp eq ptr %76, %78
  br i1 %79, label %80, label %103

80:
  %81 = icmp eq ptr %71, %64
  br i1 %81, label %93, label %82

82:
  %83 = getelementptr inbounds i8, ptr %72, i64 96
  %84 = load ptr, ptr %83, align 8
  %85 = call i64 %84(ptr %71, ptr %11)
  %86 = load ptr, ptr @runtime, align 8
  %87 = getelementptr inbounds i8, ptr %86, i64 96
  %88 = load ptr, ptr %87, align 8
  %89 = call i64 %88(ptr %64, ptr %11)
  %90 = icmp eq i64 %85, %89
  br i1 %90, label %91, label %103

91:
  %92 = load ptr, ptr @runtime, align 8
  br label %93

93:
  %94 = phi ptr [ %92, %91 ], [ %72, %80 ]
  %95 = add nsw i32 %59, -1
  %96 = getelementptr inbounds i8, ptr %94, i64 248
  %97 = load ptr, ptr %96, align 8
  %98 = call i32 %97(ptr %26, ptr %10, ptr %8, ptr %9)
  %99 = icmp eq i32 %98, 0
  br i1 %99, label %100, label %58

100:
  %101 = load i32, ptr %11, align 4
  %102 = icmp eq i32 %101, 0
  br label %105

103:
  %104 = load ptr, ptr @runtime, align 8
  br label %408

105:
  %106 = phi i1 [ true, %52 ], [ %102, %100 ]
  %107 = phi i32 [ %45, %52 ], [ %95, %100 ]
  %108 = icmp eq i32 %107, 0
  %109 = select i1 %108, i1 %106, i1 false
  %110 = load ptr, ptr @runtime, align 8
  br i1 %109, label %114, label %408

111:
  %112 = add nuw nsw i64 %116, 1
  %113 = icmp eq i64 %112, 4
  br i1 %113, label %140, label %114

114:
  %115 = phi ptr [ %136, %111 ], [ %110, %105 ]
  %116 = phi i64 [ %112, %111 ], [ 0, %105 ]
  %117 = getelementptr inbounds i8, ptr %115, i64 256
  %118 = getelementptr inbounds ptr, ptr %117, i64 %116
  %119 = load ptr, ptr %118, align 8
  %120 = icmp eq ptr %119, null
  br i1 %120, label %140, label %121

121:
  store ptr null, ptr %7, align 8
  %122 = getelementptr inbounds i8, ptr %115, i64 232
  %123 = load ptr, ptr %122, align 8
  %124 = load ptr, ptr %118, align 8
  %125 = call i32 %123(ptr %124, ptr null, ptr %7)
  %126 = icmp eq i32 %125, 0
  %127 = load ptr, ptr @runtime, align 8
  br i1 %126, label %131, label %128

128:
  %129 = getelementptr inbounds i8, ptr %127, i64 152
  %130 = load ptr, ptr %129, align 8
  call void %130()
  br label %406

131:
  %132 = getelementptr inbounds i8, ptr %127, i64 144
  %133 = load ptr, ptr %132, align 8
  %134 = load ptr, ptr %7, align 8
  call void %133(ptr %134)
  %135 = load ptr, ptr %7, align 8
  %136 = load ptr, ptr @runtime, align 8
  %137 = getelementptr inbounds i8, ptr %136, i64 216
  %138 = load ptr, ptr %137, align 8
  %139 = icmp eq ptr %135, %138
  br i1 %139, label %111, label %406

140:
  %141 = phi ptr [ %136, %111 ], [ %115, %114 ]
  %142 = getelementptr inbounds i8, ptr %141, i64 288
  %143 = load ptr, ptr %142, align 8
  %144 = getelementptr inbounds i8, ptr %141, i64 296
  %145 = load ptr, ptr %144, align 8
  %146 = getelementptr inbounds i8, ptr %141, i64 240
  %147 = load ptr, ptr %146, align 8
  %148 = call ptr %147(ptr %143, ptr %145)
  %149 = icmp eq ptr %148, null
  br i1 %149, label %150, label %406

150:
  %151 = load ptr, ptr @runtime, align 8
  %152 = getelementptr inbounds i8, ptr %151, i64 152
  %153 = load ptr, ptr %152, align 8
  call void %153()
  %154 = load ptr, ptr @runtime, align 8
  %155 = getelementptr inbounds i8, ptr %154, i64 304
  %156 = load ptr, ptr %155, align 8
  %157 = getelementptr inbounds i8, ptr %154, i64 312
  %158 = load ptr, ptr %157, align 8
  %159 = getelementptr inbounds i8, ptr %154, i64 240
  %160 = load ptr, ptr %159, align 8
  %161 = call ptr %160(ptr %156, ptr %158)
  %162 = icmp eq ptr %161, null
  br i1 %162, label %170, label %163

163:
  store ptr null, ptr %6, align 8
  %164 = load ptr, ptr @runtime, align 8
  %165 = getelementptr inbounds i8, ptr %164, i64 344
  %166 = load ptr, ptr %165, align 8
  %167 = icmp eq ptr %161, %166
  %168 = zext i1 %167 to i32
  %169 = getelementptr inbounds i8, ptr %12, i64 16
  store i32 %168, ptr %169, align 8
  br i1 %167, label %189, label %303

170:
  %171 = load ptr, ptr @runtime, align 8
  %172 = getelementptr inbounds i8, ptr %171, i64 152
  %173 = load ptr, ptr %172, align 8
  call void %173()
  store ptr null, ptr %6, align 8
  %174 = getelementptr inbounds i8, ptr %12, i64 16
  store i32 0, ptr %174, align 8
  %175 = load ptr, ptr @runtime, align 8
  %176 = getelementptr inbounds i8, ptr %175, i64 304
  %177 = load ptr, ptr %176, align 8
  %178 = getelementptr inbounds i8, ptr %175, i64 320
  %179 = load ptr, ptr %178, align 8
  %180 = getelementptr inbounds i8, ptr %175, i64 240
  %181 = load ptr, ptr %180, align 8
  %182 = call ptr %181(ptr %177, ptr %179)
  %183 = icmp eq ptr %182, null
  br i1 %183, label %184, label %303

184:
  %185 = load ptr, ptr @runtime, align 8
  %186 = getelementptr inbounds i8, ptr %185, i64 152
  %187 = load ptr, ptr %186, align 8
  call void %187()
  %188 = load ptr, ptr @runtime, align 8
  br label %189

189:
  %190 = phi ptr [ %188, %184 ], [ %164, %163 ]
  %191 = getelementptr inbounds i8, ptr %190, i64 232
  %192 = load ptr, ptr %191, align 8
  %193 = getelementptr inbounds i8, ptr %190, i64 352
  %194 = load ptr, ptr %193, align 8
  %195 = call i32 %192(ptr %194, ptr null, ptr %6)
  %196 = icmp eq i32 %195, 0
  br i1 %196, label %201, label %197

197:
  %198 = load ptr, ptr @runtime, align 8
  %199 = getelementptr inbounds i8, ptr %198, i64 152
  %200 = load ptr, ptr %199, align 8
  call void %200()
  br label %303

201:
  %202 = load ptr, ptr %6, align 8
  %203 = load ptr, ptr @runtime, align 8
  %204 = load i64, ptr %203, align 8
  %205 = getelementptr i8, ptr %202, i64 %204
  %206 = getelementptr i8, ptr %205, i64 -8
  %207 = load ptr, ptr %206, align 8
  %208 = getelementptr inbounds i8, ptr %203, i64 32
  %209 = load ptr, ptr %208, align 8
  %210 = icmp eq ptr %207, %209
  br i1 %210, label %213, label %211

211:
  %212 = getelementptr inbounds i8, ptr %12, i64 20
  store i32 0, ptr %212, align 4
  store i64 -1, ptr %12, align 8
  br label %227

213:
  %214 = load i64, ptr %205, align 8
  %215 = icmp eq i64 %214, 0
  %216 = zext i1 %215 to i32
  %217 = getelementptr inbounds i8, ptr %12, i64 20
  store i32 %216, ptr %217, align 4
  store i64 -1, ptr %12, align 8
  br i1 %215, label %304, label %218

218:
  %219 = icmp sgt i64 %214, 0
  br i1 %219, label %220, label %227

220:
  %221 = getelementptr inbounds i8, ptr %203, i64 8
  %222 = load i64, ptr %221, align 8
  %223 = shl i64 %214, 3
  %224 = getelementptr i8, ptr %202, i64 %222
  %225 = getelementptr i8, ptr %224, i64 %223
  %226 = getelementptr i8, ptr %225, i64 -8
  br label %229

227:
  %228 = getelementptr inbounds i8, ptr %203, i64 216
  br label %229

229:
  %230 = phi ptr [ %226, %220 ], [ %228, %227 ]
  %231 = load ptr, ptr %230, align 8
  %232 = getelementptr inbounds i8, ptr %203, i64 328
  %233 = load ptr, ptr %232, align 8
  %234 = getelementptr inbounds i8, ptr %203, i64 128
  %235 = load ptr, ptr %234, align 8
  %236 = call ptr %235(ptr %231, ptr %233)
  store i32 1, ptr %5, align 4
  %237 = icmp eq ptr %236, null
  %238 = load ptr, ptr @runtime, align 8
  br i1 %237, label %239, label %242

239:
  %240 = getelementptr inbounds i8, ptr %238, i64 152
  %241 = load ptr, ptr %240, align 8
  call void %241()
  br label %401

242:
  %243 = load i64, ptr %238, align 8
  %244 = getelementptr i8, ptr %236, i64 %243
  %245 = getelementptr i8, ptr %244, i64 -8
  %246 = load ptr, ptr %245, align 8
  %247 = getelementptr inbounds i8, ptr %238, i64 48
  %248 = load ptr, ptr %247, align 8
  %249 = icmp eq ptr %246, %248
  br i1 %249, label %250, label %255

250:
  %251 = getelementptr inbounds i8, ptr %238, i64 96
  %252 = load ptr, ptr %251, align 8
  %253 = call i64 %252(ptr %236, ptr %5)
  store i64 %253, ptr %12, align 8
  %254 = load ptr, ptr @runtime, align 8
  br label %255

255:
  %256 = phi ptr [ %254, %250 ], [ %238, %242 ]
  %257 = getelementptr inbounds i8, ptr %256, i64 144
  %258 = load ptr, ptr %257, align 8
  call void %258(ptr %236)
  %259 = load i32, ptr %5, align 4
  %260 = icmp eq i32 %259, 0
  br i1 %260, label %261, label %401

261:
  %262 = load ptr, ptr @runtime, align 8
  %263 = getelementptr inbounds i8, ptr %262, i64 336
  %264 = load ptr, ptr %263, align 8
  %265 = getelementptr inbounds i8, ptr %262, i64 128
  %266 = load ptr, ptr %265, align 8
  %267 = call ptr %266(ptr %231, ptr %264)
  store i32 1, ptr %4, align 4
  %268 = icmp eq ptr %267, null
  %269 = load ptr, ptr @runtime, align 8
  br i1 %268, label %270, label %277

270:
  %271 = getelementptr inbounds i8, ptr %269, i64 152
  %272 = load ptr, ptr %271, align 8
  call void %272()
  %273 = load ptr, ptr @runtime, align 8
  %274 = getelementptr inbounds i8, ptr %273, i64 144
  %275 = load ptr, ptr %274, align 8
  %276 = load ptr, ptr %6, align 8
  call void %275(ptr %276)
  br label %406

277:
  %278 = load i64, ptr %269, align 8
  %279 = getelementptr i8, ptr %267, i64 %278
  %280 = getelementptr i8, ptr %279, i64 -8
  %281 = load ptr, ptr %280, align 8
  %282 = getelementptr inbounds i8, ptr %269, i64 48
  %283 = load ptr, ptr %282, align 8
  %284 = icmp eq ptr %281, %283
  br i1 %284, label %285, label %291

285:
  %286 = getelementptr inbounds i8, ptr %269, i64 96
  %287 = load ptr, ptr %286, align 8
  %288 = call i64 %287(ptr %267, ptr %4)
  %289 = load ptr, ptr @runtime, align 8
  %290 = inttoptr i64 %288 to ptr
  br label %291

291:
  %292 = phi ptr [ %290, %285 ], [ null, %277 ]
  %293 = phi ptr [ %289, %285 ], [ %269, %277 ]
  %294 = getelementptr inbounds i8, ptr %293, i64 144
  %295 = load ptr, ptr %294, align 8
  call void %295(ptr %267)
  %296 = load i32, ptr %4, align 4
  %297 = icmp eq i32 %296, 0
  %298 = getelementptr inbounds i8, ptr %12, i64 8
  store ptr %292, ptr %298, align 8
  %299 = load ptr, ptr @runtime, align 8
  %300 = getelementptr inbounds i8, ptr %299, i64 144
  %301 = load ptr, ptr %300, align 8
  %302 = load ptr, ptr %6, align 8
  call void %301(ptr %302)
  br i1 %297, label %308, label %406

303:
  br label %406

304:
  %305 = getelementptr inbounds i8, ptr %12, i64 8
  store ptr null, ptr %305, align 8
  %306 = getelementptr inbounds i8, ptr %203, i64 144
  %307 = load ptr, ptr %306, align 8
  call void %307(ptr %202)
  br label %308

308:
  %309 = icmp sgt i64 %38, 4
  %310 = load ptr, ptr @runtime, align 8
  br i1 %309, label %311, label %408

311:
  %312 = phi ptr [ %397, %396 ], [ %310, %308 ]
  %313 = phi i64 [ %399, %396 ], [ 4, %308 ]
  %314 = phi i64 [ %398, %396 ], [ 2, %308 ]
  %315 = getelementptr inbounds i8, ptr %312, i64 8
  %316 = load i64, ptr %315, align 8
  %317 = shl nsw i64 %314, 3
  %318 = getelementptr i8, ptr %0, i64 %316
  %319 = getelementptr i8, ptr %318, i64 %317
  %320 = load ptr, ptr %319, align 8
  %321 = getelementptr i8, ptr %319, i64 8
  %322 = load ptr, ptr %321, align 8
  %323 = load i64, ptr %312, align 8
  %324 = getelementptr inbounds i8, ptr %320, i64 %323
  %325 = load i64, ptr %324, align 8
  %326 = icmp sgt i64 %325, 2
  br i1 %326, label %331, label %363

327:
  %328 = add nuw nsw i64 %335, 3
  %329 = add nuw nsw i64 %335, 5
  %330 = icmp slt i64 %329, %325
  br i1 %330, label %331, label %363

331:
  %332 = phi i64 [ %353, %327 ], [ %316, %311 ]
  %333 = phi ptr [ %351, %327 ], [ %312, %311 ]
  %334 = phi i64 [ %329, %327 ], [ 2, %311 ]
  %335 = phi i64 [ %328, %327 ], [ 0, %311 ]
  %336 = shl nsw i64 %335, 3
  %337 = getelementptr i8, ptr %320, i64 %332
  %338 = getelementptr i8, ptr %337, i64 %336
  %339 = load ptr, ptr %338, align 8
  %340 = getelementptr i8, ptr %338, i64 8
  %341 = load ptr, ptr %340, align 8
  %342 = getelementptr inbounds i8, ptr %333, i64 240
  %343 = load ptr, ptr %342, align 8
  %344 = call ptr %343(ptr %339, ptr %341)
  %345 = icmp eq ptr %344, null
  br i1 %345, label %346, label %350

346:
  %347 = load ptr, ptr @runtime, align 8
  %348 = getelementptr inbounds i8, ptr %347, i64 152
  %349 = load ptr, ptr %348, align 8
  call void %349()
  br label %350

350:
  %351 = load ptr, ptr @runtime, align 8
  %352 = getelementptr inbounds i8, ptr %351, i64 8
  %353 = load i64, ptr %352, align 8
  %354 = shl nsw i64 %334, 3
  %355 = getelementptr i8, ptr %320, i64 %353
  %356 = getelementptr i8, ptr %355, i64 %354
  %357 = load ptr, ptr %356, align 8
  %358 = getelementptr inbounds i8, ptr %351, i64 224
  %359 = load ptr, ptr %358, align 8
  %360 = icmp eq ptr %357, %359
  %361 = select i1 %360, ptr null, ptr %357
  %362 = icmp eq ptr %344, %361
  br i1 %362, label %327, label %396

363:
  %364 = phi ptr [ %312, %311 ], [ %351, %327 ]
  %365 = getelementptr inbounds i8, ptr %364, i64 216
  %366 = load ptr, ptr %365, align 8
  %367 = icmp eq ptr %322, %366
  br i1 %367, label %385, label %368

368:
  %369 = getelementptr inbounds i8, ptr %364, i64 120
  %370 = load ptr, ptr %369, align 8
  %371 = call ptr %370(ptr %322, ptr null, i64 0, ptr null)
  %372 = icmp eq ptr %371, null
  %373 = load ptr, ptr @runtime, align 8
  br i1 %372, label %374, label %377

374:
  %375 = getelementptr inbounds i8, ptr %373, i64 152
  %376 = load ptr, ptr %375, align 8
  call void %376()
  br label %380

377:
  %378 = getelementptr inbounds i8, ptr %373, i64 144
  %379 = load ptr, ptr %378, align 8
  call void %379(ptr %371)
  br label %380

380:
  %381 = load ptr, ptr @runtime, align 8
  %382 = getelementptr inbounds i8, ptr %381, i64 80
  %383 = load ptr, ptr %382, align 8
  %384 = icmp eq ptr %371, %383
  br i1 %384, label %385, label %396

385:
  %386 = phi ptr [ %364, %363 ], [ %381, %380 ]
  %387 = getelementptr inbounds i8, ptr %386, i64 8
  %388 = load i64, ptr %387, align 8
  %389 = shl nsw i64 %313, 3
  %390 = getelementptr i8, ptr %0, i64 %388
  %391 = getelementptr i8, ptr %390, i64 %389
  %392 = load ptr, ptr %391, align 8
  %393 = call fastcc i32 @go(ptr %392, ptr readonly %16, ptr %12)
  %394 = icmp eq i32 %393, 0
  %395 = load ptr, ptr @runtime, align 8
  br i1 %394, label %396, label %410

396:
  %397 = phi ptr [ %381, %380 ], [ %395, %385 ], [ %351, %350 ]
  %398 = add nuw nsw i64 %314, 3
  %399 = add nuw nsw i64 %314, 5
  %400 = icmp slt i64 %399, %38
  br i1 %400, label %311, label %408

401:
  %402 = load ptr, ptr @runtime, align 8
  %403 = getelementptr inbounds i8, ptr %402, i64 144
  %404 = load ptr, ptr %403, align 8
  %405 = load ptr, ptr %6, align 8
  call void %404(ptr %405)
  br label %406

406:
  %407 = load ptr, ptr @runtime, align 8
  br label %418

408:
  %409 = phi ptr [ %104, %103 ], [ %310, %308 ], [ %110, %105 ], [ %397, %396 ]
  br label %412

410:
  %411 = icmp eq i32 %393, 2
  br i1 %411, label %418, label %412

412:
  %413 = phi ptr [ %409, %408 ], [ %395, %410 ]
  %414 = phi i64 [ 0, %408 ], [ 1, %410 ]
  %415 = getelementptr inbounds i8, ptr %413, i64 112
  %416 = load ptr, ptr %415, align 8
  %417 = call ptr %416(i64 %414)
  br label %427

418:
  %419 = phi ptr [ %407, %406 ], [ %395, %410 ]
  %420 = getelementptr inbounds i8, ptr %419, i64 120
  %421 = load ptr, ptr %420, align 8
  %422 = getelementptr inbounds i8, ptr %419, i64 8
  %423 = load i64, ptr %422, align 8
  %424 = getelementptr inbounds i8, ptr %0, i64 %423
  %425 = load ptr, ptr %424, align 8
  %426 = call ptr %421(ptr %425, ptr %1, i64 2, ptr null)
  br label %427

427:
  %428 = phi ptr [ %35, %32 ], [ %417, %412 ], [ %426, %418 ]
  ret ptr %428
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
  %43 = getelementptr inbounds i8, ptr %5, i64 368
  %44 = getelementptr inbounds i8, ptr %5, i64 360
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
  %91 = getelementptr inbounds i8, ptr %90, i64 152
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

define void @tileproof_fast_use(ptr %0, ptr initializes((0, 72)) %1) nounwind {
  store ptr %0, ptr @runtime, align 8
  store i64 752, ptr %1, align 8
  %3 = getelementptr inbounds i8, ptr %1, i64 8
  store i64 120, ptr %3, align 8
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

define internal fastcc range(i32 0, 4) i32 @start(ptr readonly %0, ptr %1, ptr %2, ptr readonly %3) unnamed_addr nounwind {
  %5 = alloca [160 x ptr], align 16
  %6 = alloca ptr, align 8
  %7 = alloca ptr, align 8
  %8 = getelementptr inbounds i8, ptr %0, i64 64
  %9 = load ptr, ptr %8, align 8
  store ptr %9, ptr %6, align 8
  store ptr null, ptr %7, align 8
  %10 = getelementptr inbounds i8, ptr %0, i64 52
  %11 = load i32, ptr %10, align 4
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %231, label %13

13:
  %14 = getelementptr inbounds i8, ptr %0, i64 44
  %15 = load i32, ptr %14, align 4
  %16 = icmp eq i32 %15, 0
  br i1 %16, label %55, label %17

17:
  %18 = load i64, ptr %3, align 8
  %19 = icmp sgt i64 %18, -1
  br i1 %19, label %20, label %25

20:
  %21 = getelementptr inbounds i8, ptr %0, i64 12
  %22 = load i32, ptr %21, align 4
  %23 = sext i32 %22 to i64
  %24 = icmp eq i64 %18, %23
  br i1 %24, label %25, label %231

25:
  %26 = getelementptr inbounds i8, ptr %3, i64 8
  %27 = load ptr, ptr %26, align 8
  store ptr %27, ptr %6, align 8
  %28 = getelementptr inbounds i8, ptr %3, i64 16
  %29 = load i32, ptr %28, align 8
  %30 = icmp eq i32 %29, 0
  br i1 %30, label %55, label %31

31:
  %32 = load ptr, ptr @runtime, align 8
  %33 = getelementptr inbounds i8, ptr %32, i64 208
  %34 = load ptr, ptr %33, align 8
  %35 = icmp eq ptr %34, null
  br i1 %35, label %231, label %36

36:
  %37 = getelementptr inbounds i8, ptr %0, i64 8
  %38 = load i32, ptr %37, align 8
  %39 = getelementptr inbounds i8, ptr %0, i64 12
  %40 = load i32, ptr %39, align 4
  %41 = call i32 %34(i32 %38, i32 %40, ptr %6)
  %42 = icmp eq i32 %41, 0
  br i1 %42, label %47, label %43

43:
  %44 = load ptr, ptr @runtime, align 8
  %45 = getelementptr inbounds i8, ptr %44, i64 152
  %46 = load ptr, ptr %45, align 8
  call void %46()
  br label %231

47:
  %48 = getelementptr inbounds i8, ptr %3, i64 20
  %49 = load i32, ptr %48, align 4
  %50 = icmp eq i32 %49, 0
  br i1 %50, label %51, label %55

51:
  %52 = load ptr, ptr %6, align 8
  %53 = load ptr, ptr %26, align 8
  %54 = icmp eq ptr %52, %53
  br i1 %54, label %55, label %231

55:
  %56 = getelementptr inbounds i8, ptr %0, i64 88
  %57 = load ptr, ptr %56, align 8
  %58 = icmp eq ptr %57, null
  br i1 %58, label %67, label %59

59:
  %60 = call i32 %57(ptr %7)
  %61 = icmp eq i32 %60, 0
  br i1 %61, label %62, label %231

62:
  %63 = load ptr, ptr %7, align 8
  %64 = getelementptr inbounds i8, ptr %0, i64 72
  %65 = load ptr, ptr %64, align 8
  %66 = icmp eq ptr %63, %65
  br i1 %66, label %67, label %231

67:
  %68 = getelementptr inbounds i8, ptr %0, i64 112
  %69 = load ptr, ptr %68, align 8
  %70 = icmp eq ptr %69, null
  br i1 %70, label %130, label %71

71:
  %72 = load ptr, ptr %69, align 8
  %73 = icmp eq ptr %72, null
  br i1 %73, label %231, label %74

74:
  %75 = getelementptr inbounds i8, ptr %72, i64 16
  %76 = load i64, ptr %75, align 8
  %77 = load ptr, ptr %6, align 8
  %78 = load ptr, ptr %72, align 8
  %79 = icmp eq ptr %78, %77
  br i1 %79, label %80, label %231

80:
  %81 = getelementptr inbounds i8, ptr %72, i64 44
  %82 = load i32, ptr %81, align 4
  %83 = icmp eq i32 %82, 0
  br i1 %83, label %84, label %231

84:
  %85 = getelementptr inbounds i8, ptr %72, i64 32
  %86 = load i64, ptr %85, align 8
  %87 = sub nsw i64 %86, %76
  %88 = getelementptr inbounds i8, ptr %2, i64 2304
  %89 = load i32, ptr %88, align 8
  %90 = sext i32 %89 to i64
  %91 = icmp slt i64 %87, %90
  br i1 %91, label %231, label %92

92:
  %93 = getelementptr inbounds i8, ptr %72, i64 40
  %94 = load i32, ptr %93, align 8
  %95 = getelementptr inbounds i8, ptr %72, i64 48
  %96 = load i32, ptr %95, align 8
  %97 = or i32 %96, %94
  %98 = icmp eq i32 %97, 0
  br i1 %98, label %99, label %231

99:
  %100 = getelementptr inbounds i8, ptr %72, i64 8
  %101 = load i64, ptr %100, align 8
  %102 = shl i64 %101, 1
  %103 = add i64 %102, 2
  %104 = icmp sgt i32 %89, 0
  br i1 %104, label %105, label %128

105:
  %106 = getelementptr inbounds i8, ptr %2, i64 1280
  %107 = getelementptr inbounds i8, ptr %72, i64 56
  %108 = zext nneg i32 %89 to i64
  br label %109

109:
  %110 = phi i64 [ 0, %105 ], [ %126, %109 ]
  %111 = phi i64 [ %76, %105 ], [ %125, %109 ]
  %112 = getelementptr inbounds %struct.span, ptr %106, i64 %110
  %113 = and i64 %111, 4095
  %114 = getelementptr inbounds %struct.entry, ptr %107, i64 %113
  %115 = load i64, ptr %112, align 8
  store i64 %115, ptr %114, align 8
  %116 = getelementptr inbounds i8, ptr %112, i64 8
  %117 = load i64, ptr %116, align 8
  %118 = getelementptr inbounds i8, ptr %114, i64 8
  store i64 %117, ptr %118, align 8
  %119 = getelementptr inbounds i8, ptr %112, i64 16
  %120 = load i64, ptr %119, align 8
  %121 = or i64 %120, %103
  %122 = getelementptr inbounds i8, ptr %114, i64 16
  store i64 %121, ptr %122, align 8
  %123 = icmp ne i64 %115, %117
  %124 = zext i1 %123 to i64
  %125 = add nsw i64 %111, %124
  %126 = add nuw nsw i64 %110, 1
  %127 = icmp eq i64 %126, %108
  br i1 %127, label %128, label %109

128:
  %129 = phi i64 [ %76, %99 ], [ %125, %109 ]
  store i64 %129, ptr %75, align 8
  store i32 1, ptr %93, align 8
  br label %130

130:
  %131 = phi ptr [ %72, %128 ], [ null, %67 ]
  %132 = phi i64 [ %76, %128 ], [ 0, %67 ]
  %133 = getelementptr inbounds i8, ptr %2, i64 2308
  %134 = load i32, ptr %133, align 4
  %135 = icmp sgt i32 %134, 0
  br i1 %135, label %136, label %139

136:
  %137 = getelementptr inbounds i8, ptr %2, i64 2048
  %138 = zext nneg i32 %134 to i64
  br label %145

139:
  %140 = getelementptr inbounds i8, ptr %0, i64 4
  %141 = load i32, ptr %140, align 4
  %142 = icmp sgt i32 %141, 0
  br i1 %142, label %143, label %153

143:
  %144 = zext nneg i32 %141 to i64
  br label %157

145:
  %146 = phi i64 [ 0, %136 ], [ %151, %145 ]
  %147 = getelementptr inbounds ptr, ptr %137, i64 %146
  %148 = load ptr, ptr %147, align 8
  %149 = load i64, ptr %148, align 8
  %150 = add nsw i64 %149, 1
  store i64 %150, ptr %148, align 8
  %151 = add nuw nsw i64 %146, 1
  %152 = icmp eq i64 %151, %138
  br i1 %152, label %139, label %145

153:
  %154 = getelementptr inbounds i8, ptr %0, i64 48
  %155 = load i32, ptr %154, align 8
  %156 = icmp eq i32 %155, 0
  br i1 %156, label %171, label %163

157:
  %158 = phi i64 [ 0, %143 ], [ %161, %157 ]
  %159 = getelementptr inbounds i64, ptr %2, i64 %158
  %160 = getelementptr inbounds ptr, ptr %5, i64 %158
  store ptr %159, ptr %160, align 8
  %161 = add nuw nsw i64 %158, 1
  %162 = icmp eq i64 %161, %144
  br i1 %162, label %153, label %157

163:
  %164 = load ptr, ptr @runtime, align 8
  %165 = getelementptr inbounds i8, ptr %164, i64 136
  %166 = load ptr, ptr %165, align 8
  call void %166(ptr %1)
  %167 = load ptr, ptr @runtime, align 8
  %168 = getelementptr inbounds i8, ptr %167, i64 160
  %169 = load ptr, ptr %168, align 8
  %170 = call ptr %169()
  br label %171

171:
  %172 = phi ptr [ %170, %163 ], [ null, %153 ]
  %173 = getelementptr inbounds i8, ptr %0, i64 80
  %174 = load ptr, ptr %173, align 8
  %175 = getelementptr inbounds i8, ptr %0, i64 56
  %176 = load ptr, ptr %175, align 8
  %177 = getelementptr inbounds i8, ptr %0, i64 16
  %178 = load i32, ptr %177, align 8
  %179 = getelementptr inbounds i8, ptr %0, i64 20
  %180 = load i32, ptr %179, align 4
  %181 = getelementptr inbounds i8, ptr %0, i64 24
  %182 = load i32, ptr %181, align 8
  %183 = getelementptr inbounds i8, ptr %0, i64 28
  %184 = load i32, ptr %183, align 4
  %185 = getelementptr inbounds i8, ptr %0, i64 32
  %186 = load i32, ptr %185, align 8
  %187 = getelementptr inbounds i8, ptr %0, i64 36
  %188 = load i32, ptr %187, align 4
  %189 = getelementptr inbounds i8, ptr %0, i64 40
  %190 = load i32, ptr %189, align 8
  %191 = load ptr, ptr %6, align 8
  %192 = call i32 %174(ptr %176, i32 %178, i32 %180, i32 %182, i32 %184, i32 %186, i32 %188, i32 %190, ptr %191, ptr %5, ptr null)
  %193 = icmp eq ptr %172, null
  br i1 %193, label %198, label %194

194:
  %195 = load ptr, ptr @runtime, align 8
  %196 = getelementptr inbounds i8, ptr %195, i64 168
  %197 = load ptr, ptr %196, align 8
  call void %197(ptr %172)
  br label %198

198:
  %199 = icmp eq ptr %131, null
  br i1 %199, label %209, label %200

200:
  %201 = icmp eq i32 %192, 0
  br i1 %201, label %204, label %202

202:
  %203 = getelementptr inbounds i8, ptr %131, i64 16
  store i64 %132, ptr %203, align 8
  br label %204

204:
  %205 = getelementptr inbounds i8, ptr %131, i64 8
  %206 = load i64, ptr %205, align 8
  %207 = add nsw i64 %206, 1
  store i64 %207, ptr %205, align 8
  %208 = getelementptr inbounds i8, ptr %131, i64 40
  store i32 0, ptr %208, align 8
  br label %209

209:
  %210 = icmp eq i32 %192, 0
  br i1 %210, label %211, label %224

211:
  %212 = load i32, ptr %133, align 4
  %213 = icmp sgt i32 %212, 0
  br i1 %213, label %214, label %224

214:
  %215 = getelementptr inbounds i8, ptr %2, i64 2048
  %216 = zext nneg i32 %212 to i64
  br label %217

217:
  %218 = phi i64 [ 0, %214 ], [ %222, %217 ]
  %219 = getelementptr inbounds ptr, ptr %215, i64 %218
  %220 = load ptr, ptr %219, align 8
  %221 = getelementptr inbounds i8, ptr %220, i64 24
  store i32 0, ptr %221, align 8
  %222 = add nuw nsw i64 %218, 1
  %223 = icmp eq i64 %222, %216
  br i1 %223, label %224, label %217

224:
  br i1 %193, label %229, label %225

225:
  %226 = load ptr, ptr @runtime, align 8
  %227 = getelementptr inbounds i8, ptr %226, i64 144
  %228 = load ptr, ptr %227, align 8
  call void %228(ptr %1)
  br label %229

229:
  %230 = zext i1 %210 to i32
  br label %231

231:
  %232 = phi i32 [ 1, %4 ], [ 0, %43 ], [ 0, %51 ], [ %230, %229 ], [ 0, %59 ], [ 2, %31 ], [ 0, %20 ], [ 0, %62 ], [ 3, %92 ], [ 0, %74 ], [ 0, %80 ], [ 0, %84 ], [ 0, %71 ]
  ret i32 %232
}
