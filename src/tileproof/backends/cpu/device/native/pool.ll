; Made by tools/build_native.py of pool.c, whose sha256 is 66e00281d122da2f420e7b0e07932d4390229635bdb27ed4fc602eeee6a644c3

%struct.instant = type { i64, i64 }
%struct.arena = type { ptr, i64 }

define void @tileproof_pool_run(ptr %0, ptr %1, ptr %2, i64 %3, i64 %4, i64 %5, ptr %6) nounwind {
  %8 = alloca %struct.instant, align 8
  %9 = alloca %struct.instant, align 8
  %10 = icmp slt i64 %3, 1
  br i1 %10, label %127, label %11

11:
  %12 = icmp ne ptr %0, null
  %13 = icmp sgt i64 %3, %4
  %14 = and i1 %12, %13
  br i1 %14, label %15, label %22

15:
  %16 = getelementptr inbounds i8, ptr %0, i64 384
  %17 = load atomic i32, ptr %16 seq_cst, align 128
  %18 = icmp eq i32 %17, 0
  br i1 %18, label %19, label %22

19:
  %20 = cmpxchg ptr %16, i32 0, i32 1 seq_cst seq_cst, align 128
  %21 = extractvalue { i32, i1 } %20, 1
  br i1 %21, label %23, label %22

22:
  tail call void %1(ptr %2, ptr %6, i64 0, i64 %3)
  br label %127

23:
  %24 = getelementptr inbounds i8, ptr %0, i64 640
  store ptr %1, ptr %24, align 128
  %25 = getelementptr inbounds i8, ptr %0, i64 648
  store ptr %2, ptr %25, align 8
  %26 = getelementptr inbounds i8, ptr %0, i64 656
  store i64 %3, ptr %26, align 16
  %27 = tail call i64 @llvm.smax.i64(i64 %4, i64 1)
  %28 = getelementptr inbounds i8, ptr %0, i64 664
  store i64 %27, ptr %28, align 8
  %29 = getelementptr inbounds i8, ptr %0, i64 672
  store i64 %5, ptr %29, align 32
  %30 = getelementptr inbounds i8, ptr %0, i64 128
  store atomic i64 0, ptr %30 seq_cst, align 128
  store atomic i32 1073741824, ptr %0 seq_cst, align 128
  %31 = getelementptr inbounds i8, ptr %0, i64 256
  %32 = atomicrmw add ptr %31, i32 1 seq_cst, align 128
  %33 = getelementptr inbounds i8, ptr %0, i64 512
  %34 = load atomic i32, ptr %33 seq_cst, align 128
  %35 = icmp eq i32 %34, 0
  br i1 %35, label %61, label %36

36:
  %37 = load i64, ptr %26, align 16
  %38 = load atomic i64, ptr %30 seq_cst, align 128
  %39 = load i64, ptr %28, align 8
  %40 = xor i64 %38, -1
  %41 = add i64 %37, %40
  %42 = add i64 %41, %39
  %43 = sdiv i64 %42, %39
  %44 = getelementptr inbounds i8, ptr %0, i64 520
  %45 = load i32, ptr %44, align 8
  %46 = xor i32 %45, -1
  %47 = add i32 %34, %46
  %48 = sext i32 %47 to i64
  %49 = add i64 %43, %48
  %50 = icmp slt i64 %49, 1
  br i1 %50, label %61, label %51

51:
  %52 = getelementptr inbounds i8, ptr %0, i64 704
  %53 = tail call i32 @pthread_mutex_lock(ptr %52)
  %54 = getelementptr inbounds i8, ptr %0, i64 960
  %55 = tail call i32 @pthread_cond_signal(ptr %54)
  %56 = icmp eq i64 %49, 1
  br i1 %56, label %59, label %57

57:
  %58 = tail call i32 @pthread_cond_signal(ptr %54)
  br label %59

59:
  %60 = tail call i32 @pthread_mutex_unlock(ptr %52)
  br label %61

61:
  %62 = load i64, ptr %28, align 8
  %63 = atomicrmw add ptr %30, i64 %62 seq_cst, align 128
  %64 = load i64, ptr %26, align 16
  %65 = icmp slt i64 %63, %64
  br i1 %65, label %66, label %79

66:
  %67 = phi i64 [ %77, %66 ], [ %64, %61 ]
  %68 = phi i64 [ %76, %66 ], [ %63, %61 ]
  %69 = sub nsw i64 %67, %68
  %70 = load ptr, ptr %24, align 128
  %71 = load ptr, ptr %25, align 8
  %72 = load i64, ptr %28, align 8
  %73 = tail call i64 @llvm.smin.i64(i64 %69, i64 %72)
  %74 = add nsw i64 %73, %68
  tail call void %70(ptr %71, ptr %6, i64 %68, i64 %74)
  %75 = load i64, ptr %28, align 8
  %76 = atomicrmw add ptr %30, i64 %75 seq_cst, align 128
  %77 = load i64, ptr %26, align 16
  %78 = icmp slt i64 %76, %77
  br i1 %78, label %66, label %79

79:
  %80 = atomicrmw and ptr %0, i32 -1073741825 seq_cst, align 128
  %81 = and i32 %80, -1073741825
  %82 = icmp eq i32 %81, 0
  br i1 %82, label %126, label %83

83:
  %84 = getelementptr inbounds i8, ptr %9, i64 8
  %85 = getelementptr inbounds i8, ptr %8, i64 8
  br label %86

86:
  %87 = phi i32 [ %81, %83 ], [ %110, %109 ]
  %88 = call i32 @clock_gettime(i32 0, ptr %9)
  %89 = load i64, ptr %9, align 8
  %90 = load i64, ptr %84, align 8
  br label %91

91:
  %92 = phi i32 [ 0, %86 ], [ %99, %98 ]
  %93 = load atomic i32, ptr %0 seq_cst, align 4
  %94 = icmp eq i32 %93, %87
  br i1 %94, label %95, label %109

95:
  call void @tileproof_relax()
  %96 = add nuw nsw i32 %92, 1
  %97 = icmp eq i32 %96, 16
  br i1 %97, label %100, label %98

98:
  %99 = phi i32 [ %96, %95 ], [ 0, %100 ]
  br label %91

100:
  %101 = call i32 @clock_gettime(i32 0, ptr %8)
  %102 = load i64, ptr %8, align 8
  %103 = load i64, ptr %85, align 8
  %104 = sub i64 %102, %89
  %105 = mul i64 %104, 1000000000
  %106 = sub i64 %103, %90
  %107 = add i64 %106, %105
  %108 = icmp ult i64 %107, 40000
  br i1 %108, label %98, label %112

109:
  %110 = load atomic i32, ptr %0 seq_cst, align 128
  %111 = icmp eq i32 %110, 0
  br i1 %111, label %126, label %86

112:
  %113 = getelementptr inbounds i8, ptr %0, i64 832
  %114 = call i32 @pthread_mutex_lock(ptr %113)
  %115 = getelementptr inbounds i8, ptr %0, i64 516
  store atomic i32 1, ptr %115 seq_cst, align 4
  %116 = load atomic i32, ptr %0 seq_cst, align 128
  %117 = icmp eq i32 %116, 0
  br i1 %117, label %124, label %118

118:
  %119 = getelementptr inbounds i8, ptr %0, i64 1088
  br label %120

120:
  %121 = call i32 @pthread_cond_wait(ptr %119, ptr %113)
  %122 = load atomic i32, ptr %0 seq_cst, align 128
  %123 = icmp eq i32 %122, 0
  br i1 %123, label %124, label %120

124:
  store atomic i32 0, ptr %115 seq_cst, align 4
  %125 = call i32 @pthread_mutex_unlock(ptr %113)
  br label %126

126:
  store atomic i32 0, ptr %16 seq_cst, align 128
  br label %127

127:
  ret void
}

define ptr @tileproof_pool_new(i32 %0) nounwind {
  %2 = alloca ptr, align 8
  %3 = alloca i64, align 8
  %4 = call i32 @posix_memalign(ptr %2, i64 128, i64 1280)
  %5 = icmp eq i32 %4, 0
  br i1 %5, label %6, label %43

6:
  %7 = load ptr, ptr %2, align 8
  %8 = getelementptr inbounds i8, ptr %7, i64 520
  store i32 0, ptr %8, align 8
  %9 = getelementptr inbounds i8, ptr %7, i64 516
  store i32 0, ptr %9, align 4
  %10 = getelementptr inbounds i8, ptr %7, i64 512
  store i32 0, ptr %10, align 128
  %11 = getelementptr inbounds i8, ptr %7, i64 384
  store i32 0, ptr %11, align 128
  %12 = getelementptr inbounds i8, ptr %7, i64 256
  store i32 0, ptr %12, align 128
  store i32 0, ptr %7, align 128
  %13 = getelementptr inbounds i8, ptr %7, i64 128
  store i64 0, ptr %13, align 128
  %14 = getelementptr inbounds i8, ptr %7, i64 704
  %15 = call i32 @pthread_mutex_init(ptr %14, ptr null)
  %16 = load ptr, ptr %2, align 8
  %17 = getelementptr inbounds i8, ptr %16, i64 832
  %18 = call i32 @pthread_mutex_init(ptr %17, ptr null)
  %19 = load ptr, ptr %2, align 8
  %20 = getelementptr inbounds i8, ptr %19, i64 960
  %21 = call i32 @pthread_cond_init(ptr %20, ptr null)
  %22 = load ptr, ptr %2, align 8
  %23 = getelementptr inbounds i8, ptr %22, i64 1088
  %24 = call i32 @pthread_cond_init(ptr %23, ptr null)
  %25 = load ptr, ptr %2, align 8
  %26 = getelementptr inbounds i8, ptr %25, i64 520
  %27 = load i32, ptr %26, align 8
  %28 = icmp slt i32 %27, %0
  br i1 %28, label %29, label %43

29:
  %30 = phi ptr [ %38, %35 ], [ %25, %6 ]
  %31 = call i32 @pthread_create(ptr %3, ptr null, ptr @worker, ptr %30)
  %32 = icmp eq i32 %31, 0
  br i1 %32, label %35, label %33

33:
  %34 = load ptr, ptr %2, align 8
  br label %43

35:
  %36 = load i64, ptr %3, align 8
  %37 = call i32 @pthread_detach(i64 %36)
  %38 = load ptr, ptr %2, align 8
  %39 = getelementptr inbounds i8, ptr %38, i64 520
  %40 = load i32, ptr %39, align 8
  %41 = add nsw i32 %40, 1
  store i32 %41, ptr %39, align 8
  %42 = icmp slt i32 %41, %0
  br i1 %42, label %29, label %43

43:
  %44 = phi ptr [ null, %1 ], [ %34, %33 ], [ %25, %6 ], [ %38, %35 ]
  ret ptr %44
}

declare i32 @posix_memalign(ptr, i64, i64)

declare i32 @pthread_mutex_init(ptr, ptr)

declare i32 @pthread_cond_init(ptr, ptr)

declare i32 @pthread_create(ptr, ptr, ptr, ptr)

define internal ptr @worker(ptr %0) nounwind {
  %2 = alloca %struct.instant, align 8
  %3 = alloca %struct.instant, align 8
  %4 = alloca %struct.arena, align 8
  call void @llvm.memset.p0.i64(ptr align 8 %4, i8 0, i64 16, i1 false)
  %5 = getelementptr inbounds i8, ptr %0, i64 256
  %6 = getelementptr inbounds i8, ptr %3, i64 8
  %7 = getelementptr inbounds i8, ptr %2, i64 8
  %8 = getelementptr inbounds i8, ptr %0, i64 704
  %9 = getelementptr inbounds i8, ptr %0, i64 512
  %10 = getelementptr inbounds i8, ptr %0, i64 960
  %11 = getelementptr inbounds i8, ptr %0, i64 128
  %12 = getelementptr inbounds i8, ptr %0, i64 656
  %13 = getelementptr inbounds i8, ptr %0, i64 672
  %14 = getelementptr inbounds i8, ptr %4, i64 8
  %15 = getelementptr inbounds i8, ptr %0, i64 664
  %16 = getelementptr inbounds i8, ptr %0, i64 520
  %17 = getelementptr inbounds i8, ptr %0, i64 640
  %18 = getelementptr inbounds i8, ptr %0, i64 648
  %19 = getelementptr inbounds i8, ptr %0, i64 516
  %20 = getelementptr inbounds i8, ptr %0, i64 832
  %21 = getelementptr inbounds i8, ptr %0, i64 1088
  br label %22

22:
  %23 = phi i32 [ 0, %1 ], [ %58, %138 ]
  %24 = call i32 @clock_gettime(i32 0, ptr %3)
  %25 = load i64, ptr %3, align 8
  %26 = load i64, ptr %6, align 8
  br label %27

27:
  %28 = phi i32 [ 0, %22 ], [ %35, %34 ]
  %29 = load atomic i32, ptr %5 seq_cst, align 4
  %30 = icmp eq i32 %29, %23
  br i1 %30, label %31, label %57

31:
  call void @tileproof_relax()
  %32 = add nuw nsw i32 %28, 1
  %33 = icmp eq i32 %32, 16
  br i1 %33, label %36, label %34

34:
  %35 = phi i32 [ %32, %31 ], [ 0, %36 ]
  br label %27

36:
  %37 = call i32 @clock_gettime(i32 0, ptr %2)
  %38 = load i64, ptr %2, align 8
  %39 = load i64, ptr %7, align 8
  %40 = sub i64 %38, %25
  %41 = mul i64 %40, 1000000000
  %42 = sub i64 %39, %26
  %43 = add i64 %42, %41
  %44 = icmp ult i64 %43, 40000
  br i1 %44, label %34, label %45

45:
  %46 = call i32 @pthread_mutex_lock(ptr %8)
  %47 = atomicrmw add ptr %9, i32 1 seq_cst, align 128
  %48 = load atomic i32, ptr %5 seq_cst, align 128
  %49 = icmp eq i32 %48, %23
  br i1 %49, label %50, label %54

50:
  %51 = call i32 @pthread_cond_wait(ptr %10, ptr %8)
  %52 = load atomic i32, ptr %5 seq_cst, align 128
  %53 = icmp eq i32 %52, %23
  br i1 %53, label %50, label %54

54:
  %55 = atomicrmw add ptr %9, i32 -1 seq_cst, align 128
  %56 = call i32 @pthread_mutex_unlock(ptr %8)
  br label %57

57:
  %58 = load atomic i32, ptr %5 seq_cst, align 128
  %59 = load atomic i32, ptr %0 seq_cst, align 128
  br label %60

60:
  %61 = phi i32 [ %59, %57 ], [ %68, %64 ]
  %62 = and i32 %61, 1073741824
  %63 = icmp eq i32 %62, 0
  br i1 %63, label %138, label %64

64:
  %65 = add nsw i32 %61, 1
  %66 = cmpxchg ptr %0, i32 %61, i32 %65 seq_cst seq_cst, align 128
  %67 = extractvalue { i32, i1 } %66, 1
  %68 = extractvalue { i32, i1 } %66, 0
  br i1 %67, label %69, label %60

69:
  %70 = load atomic i64, ptr %11 seq_cst, align 128
  %71 = load i64, ptr %12, align 16
  %72 = icmp slt i64 %70, %71
  br i1 %72, label %73, label %128

73:
  %74 = load i64, ptr %13, align 32
  %75 = load i64, ptr %14, align 8
  %76 = icmp sgt i64 %74, %75
  br i1 %76, label %77, label %84

77:
  %78 = load ptr, ptr %4, align 8
  call void @free(ptr %78)
  %79 = call i32 @posix_memalign(ptr %4, i64 64, i64 %74)
  %80 = icmp eq i32 %79, 0
  %81 = select i1 %80, i64 %74, i64 0
  store i64 %81, ptr %14, align 8
  %82 = icmp eq i64 %81, 0
  br i1 %82, label %83, label %84

83:
  store ptr null, ptr %4, align 8
  br label %128

84:
  %85 = load atomic i32, ptr %9 seq_cst, align 128
  %86 = icmp eq i32 %85, 0
  br i1 %86, label %109, label %87

87:
  %88 = load i64, ptr %12, align 16
  %89 = load atomic i64, ptr %11 seq_cst, align 128
  %90 = load i64, ptr %15, align 8
  %91 = xor i64 %89, -1
  %92 = add i64 %88, %91
  %93 = add i64 %92, %90
  %94 = sdiv i64 %93, %90
  %95 = load i32, ptr %16, align 8
  %96 = xor i32 %95, -1
  %97 = add i32 %85, %96
  %98 = sext i32 %97 to i64
  %99 = add i64 %94, %98
  %100 = icmp slt i64 %99, 1
  br i1 %100, label %109, label %101

101:
  %102 = call i32 @pthread_mutex_lock(ptr %8)
  %103 = call i32 @pthread_cond_signal(ptr %10)
  %104 = icmp eq i64 %99, 1
  br i1 %104, label %107, label %105

105:
  %106 = call i32 @pthread_cond_signal(ptr %10)
  br label %107

107:
  %108 = call i32 @pthread_mutex_unlock(ptr %8)
  br label %109

109:
  %110 = load ptr, ptr %4, align 8
  %111 = load i64, ptr %15, align 8
  %112 = atomicrmw add ptr %11, i64 %111 seq_cst, align 128
  %113 = load i64, ptr %12, align 16
  %114 = icmp slt i64 %112, %113
  br i1 %114, label %115, label %128

115:
  %116 = phi i64 [ %126, %115 ], [ %113, %109 ]
  %117 = phi i64 [ %125, %115 ], [ %112, %109 ]
  %118 = sub nsw i64 %116, %117
  %119 = load ptr, ptr %17, align 128
  %120 = load ptr, ptr %18, align 8
  %121 = load i64, ptr %15, align 8
  %122 = call i64 @llvm.smin.i64(i64 %118, i64 %121)
  %123 = add nsw i64 %122, %117
  call void %119(ptr %120, ptr %110, i64 %117, i64 %123)
  %124 = load i64, ptr %15, align 8
  %125 = atomicrmw add ptr %11, i64 %124 seq_cst, align 128
  %126 = load i64, ptr %12, align 16
  %127 = icmp slt i64 %125, %126
  br i1 %127, label %115, label %128

128:
  %129 = atomicrmw add ptr %0, i32 -1 seq_cst, align 128
  %130 = icmp eq i32 %129, 1
  br i1 %130, label %131, label %138

131:
  %132 = load atomic i32, ptr %19 seq_cst, align 4
  %133 = icmp eq i32 %132, 0
  br i1 %133, label %138, label %134

134:
  %135 = call i32 @pthread_mutex_lock(ptr %20)
  %136 = call i32 @pthread_cond_signal(ptr %21)
  %137 = call i32 @pthread_mutex_unlock(ptr %20)
  br label %138

138:
  br label %22
}

declare i32 @pthread_detach(i64)

declare i32 @pthread_mutex_lock(ptr)

declare i32 @pthread_cond_signal(ptr)

declare i32 @pthread_mutex_unlock(ptr)

declare i32 @pthread_cond_wait(ptr, ptr)

declare void @tileproof_relax()

declare i32 @clock_gettime(i32, ptr)

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

declare void @free(ptr)

declare i64 @llvm.smax.i64(i64, i64)

declare i64 @llvm.smin.i64(i64, i64)
