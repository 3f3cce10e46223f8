; Made by tools/build_queue.py of queue.c, whose sha256 is 662c3e4dc4b628e39b1ab903e8c4ccf2abd693efb2dd30bc572fb22a08e98806

%struct.instant = type { i64, i64 }
%struct.entry = type { ptr, i64, ptr, i64 }
%struct.arena = type { ptr, i64 }
%struct.step = type { i64, ptr, ptr, i64, i64, i64, ptr }

define range(i32 0, 2) i32 @tileproof_queue_until(ptr %0, i64 %1, i64 %2) nounwind {
  %4 = alloca %struct.instant, align 8
  %5 = alloca %struct.instant, align 8
  %6 = alloca %struct.instant, align 8
  %7 = alloca %struct.instant, align 8
  %8 = load atomic i64, ptr %0 seq_cst, align 8
  %9 = icmp slt i64 %8, %1
  br i1 %9, label %10, label %69

10:
  %11 = call i32 @clock_gettime(i32 0, ptr %6)
  %12 = load i64, ptr %6, align 8
  %13 = getelementptr inbounds i8, ptr %6, i64 8
  %14 = load i64, ptr %13, align 8
  %15 = getelementptr inbounds i8, ptr %5, i64 8
  br label %16

16:
  %17 = phi i32 [ 0, %10 ], [ %24, %23 ]
  %18 = load atomic i64, ptr %0 seq_cst, align 8
  %19 = icmp slt i64 %18, %1
  br i1 %19, label %20, label %69

20:
  call void @tileproof_relax()
  %21 = add nuw nsw i32 %17, 1
  %22 = icmp eq i32 %21, 16
  br i1 %22, label %25, label %23

23:
  %24 = phi i32 [ %21, %20 ], [ 0, %25 ]
  br label %16

25:
  %26 = call i32 @clock_gettime(i32 0, ptr %5)
  %27 = load i64, ptr %5, align 8
  %28 = load i64, ptr %15, align 8
  %29 = sub i64 %27, %12
  %30 = mul i64 %29, 1000000000
  %31 = sub i64 %28, %14
  %32 = add i64 %31, %30
  %33 = icmp ult i64 %32, 20000
  br i1 %33, label %23, label %34

34:
  %35 = call i32 @clock_gettime(i32 0, ptr %4)
  %36 = load i64, ptr %4, align 8
  %37 = mul nsw i64 %36, 1000000000
  %38 = getelementptr inbounds i8, ptr %4, i64 8
  %39 = load i64, ptr %38, align 8
  %40 = add i64 %39, %2
  %41 = add i64 %40, %37
  %42 = sdiv i64 %41, 1000000000
  store i64 %42, ptr %7, align 8
  %43 = srem i64 %41, 1000000000
  %44 = getelementptr inbounds i8, ptr %7, i64 8
  store i64 %43, ptr %44, align 8
  %45 = getelementptr inbounds i8, ptr %0, i64 448
  %46 = call i32 @pthread_mutex_lock(ptr %45)
  %47 = getelementptr inbounds i8, ptr %0, i64 264
  %48 = atomicrmw add ptr %47, i64 1 seq_cst, align 8
  %49 = getelementptr inbounds i8, ptr %0, i64 24
  %50 = load atomic i64, ptr %0 seq_cst, align 128
  %51 = icmp slt i64 %50, %1
  br i1 %51, label %52, label %63

52:
  %53 = getelementptr inbounds i8, ptr %0, i64 704
  br label %54

54:
  %55 = load atomic i64, ptr %49 seq_cst, align 8
  %56 = icmp eq i64 %55, 0
  br i1 %56, label %57, label %63

57:
  %58 = call i32 @pthread_cond_timedwait(ptr %53, ptr %45, ptr %7)
  %59 = icmp ne i32 %58, 0
  %60 = load atomic i64, ptr %0 seq_cst, align 128
  %61 = icmp sge i64 %60, %1
  %62 = select i1 %61, i1 true, i1 %59
  br i1 %62, label %63, label %54

63:
  %64 = atomicrmw add ptr %47, i64 -1 seq_cst, align 8
  %65 = call i32 @pthread_mutex_unlock(ptr %45)
  %66 = load atomic i64, ptr %0 seq_cst, align 128
  %67 = icmp sge i64 %66, %1
  %68 = zext i1 %67 to i32
  br label %69

69:
  %70 = phi i32 [ %68, %63 ], [ 1, %3 ], [ 1, %16 ]
  ret i32 %70
}

declare i32 @pthread_mutex_lock(ptr)

declare i32 @pthread_cond_timedwait(ptr, ptr, ptr)

declare i32 @pthread_mutex_unlock(ptr)

define void @tileproof_queue_reach(ptr %0, i64 %1) nounwind {
  store atomic i64 %1, ptr %0 seq_cst, align 128
  %3 = getelementptr inbounds i8, ptr %0, i64 264
  %4 = load atomic i64, ptr %3 seq_cst, align 8
  %5 = icmp eq i64 %4, 0
  br i1 %5, label %12, label %6

6:
  %7 = getelementptr inbounds i8, ptr %0, i64 448
  %8 = tail call i32 @pthread_mutex_lock(ptr %7)
  %9 = getelementptr inbounds i8, ptr %0, i64 704
  %10 = tail call i32 @pthread_cond_broadcast(ptr %9)
  %11 = tail call i32 @pthread_mutex_unlock(ptr %7)
  br label %12

12:
  ret void
}

declare i32 @pthread_cond_broadcast(ptr)

define range(i64 -9223372036854775807, -9223372036854775808) i64 @tileproof_queue_push(ptr %0, ptr %1, i64 %2) nounwind {
  %4 = alloca %struct.entry, align 8
  store ptr %1, ptr %4, align 8
  %5 = getelementptr inbounds i8, ptr %4, i64 8
  store i64 %2, ptr %5, align 8
  %6 = getelementptr inbounds i8, ptr %4, i64 16
  store ptr null, ptr %6, align 8
  %7 = getelementptr inbounds i8, ptr %4, i64 24
  store i64 0, ptr %7, align 8
  %8 = tail call fastcc i64 @give(ptr %0, ptr byval(%struct.entry) align 8 %4)
  ret i64 %8
}

define internal fastcc range(i64 -9223372036854775807, -9223372036854775808) i64 @give(ptr %0, ptr readonly byval(%struct.entry) align 8 %1) unnamed_addr nounwind {
  %3 = alloca ptr, align 8
  %4 = getelementptr inbounds i8, ptr %0, i64 320
  %5 = tail call i32 @pthread_mutex_lock(ptr %4)
  %6 = getelementptr inbounds i8, ptr %0, i64 288
  %7 = load ptr, ptr %6, align 32
  %8 = load atomic i64, ptr %0 seq_cst, align 128
  %9 = getelementptr inbounds i8, ptr %0, i64 128
  %10 = load i64, ptr %9, align 128
  %11 = sub i64 %10, %8
  %12 = add i64 %11, 1
  %13 = load i64, ptr %7, align 8
  %14 = icmp slt i64 %12, %13
  br i1 %14, label %45, label %15

15:
  %16 = shl i64 %13, 6
  %17 = or disjoint i64 %16, 8
  %18 = call i32 @posix_memalign(ptr %3, i64 64, i64 %17)
  %19 = icmp eq i32 %18, 0
  br i1 %19, label %22, label %20

20:
  %21 = call i32 @pthread_mutex_unlock(ptr %4)
  br label %60

22:
  %23 = shl nsw i64 %13, 1
  %24 = load ptr, ptr %3, align 8
  store i64 %23, ptr %24, align 8
  %25 = load i64, ptr %9, align 128
  %26 = icmp sgt i64 %8, %25
  br i1 %26, label %41, label %27

27:
  %28 = getelementptr inbounds i8, ptr %24, i64 8
  %29 = getelementptr inbounds i8, ptr %7, i64 8
  br label %30

30:
  %31 = phi i64 [ %8, %27 ], [ %38, %30 ]
  %32 = load i64, ptr %24, align 8
  %33 = srem i64 %31, %32
  %34 = getelementptr inbounds %struct.entry, ptr %28, i64 %33
  %35 = load i64, ptr %7, align 8
  %36 = srem i64 %31, %35
  %37 = getelementptr inbounds %struct.entry, ptr %29, i64 %36
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %34, ptr align 8 %37, i64 32, i1 false)
  %38 = add nsw i64 %31, 1
  %39 = load i64, ptr %9, align 128
  %40 = icmp slt i64 %31, %39
  br i1 %40, label %30, label %41

41:
  %42 = phi i64 [ %25, %22 ], [ %39, %30 ]
  %43 = ptrtoint ptr %24 to i64
  store atomic i64 %43, ptr %6 seq_cst, align 32
  %44 = load i64, ptr %24, align 8
  br label %45

45:
  %46 = phi i64 [ %44, %41 ], [ %13, %2 ]
  %47 = phi i64 [ %42, %41 ], [ %10, %2 ]
  %48 = phi ptr [ %24, %41 ], [ %7, %2 ]
  %49 = add nsw i64 %47, 1
  %50 = getelementptr inbounds i8, ptr %48, i64 8
  %51 = srem i64 %49, %46
  %52 = getelementptr inbounds %struct.entry, ptr %50, i64 %51
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %52, ptr align 8 %1, i64 32, i1 false)
  store atomic i64 %49, ptr %9 seq_cst, align 128
  %53 = getelementptr inbounds i8, ptr %0, i64 256
  %54 = load atomic i64, ptr %53 seq_cst, align 128
  %55 = icmp eq i64 %54, 0
  %56 = call i32 @pthread_mutex_unlock(ptr %4)
  br i1 %55, label %60, label %57

57:
  %58 = getelementptr inbounds i8, ptr %0, i64 576
  %59 = call i32 @pthread_cond_signal(ptr %58)
  br label %60

60:
  %61 = phi i64 [ 0, %20 ], [ %49, %45 ], [ %49, %57 ]
  ret i64 %61
}

define range(i64 -9223372036854775807, -9223372036854775808) i64 @tileproof_queue_wait(ptr %0, ptr %1, i64 %2) nounwind {
  %4 = alloca %struct.entry, align 8
  store ptr null, ptr %4, align 8
  %5 = getelementptr inbounds i8, ptr %4, i64 8
  store i64 0, ptr %5, align 8
  %6 = getelementptr inbounds i8, ptr %4, i64 16
  store ptr %1, ptr %6, align 8
  %7 = getelementptr inbounds i8, ptr %4, i64 24
  store i64 %2, ptr %7, align 8
  %8 = tail call fastcc i64 @give(ptr %0, ptr byval(%struct.entry) align 8 %4)
  ret i64 %8
}

define void @tileproof_queue_abandon(ptr %0) nounwind {
  %2 = getelementptr inbounds i8, ptr %0, i64 320
  %3 = tail call i32 @pthread_mutex_lock(ptr %2)
  %4 = getelementptr inbounds i8, ptr %0, i64 16
  store atomic i64 1, ptr %4 seq_cst, align 16
  %5 = getelementptr inbounds i8, ptr %0, i64 576
  %6 = tail call i32 @pthread_cond_signal(ptr %5)
  %7 = tail call i32 @pthread_mutex_unlock(ptr %2)
  %8 = getelementptr inbounds i8, ptr %0, i64 24
  %9 = load atomic i64, ptr %8 seq_cst, align 8
  %10 = icmp eq i64 %9, 0
  br i1 %10, label %11, label %15

11:
  %12 = tail call i32 @tileproof_queue_until(ptr %0, i64 9223372036854775807, i64 50000000)
  %13 = load atomic i64, ptr %8 seq_cst, align 8
  %14 = icmp eq i64 %13, 0
  br i1 %14, label %11, label %15

15:
  ret void
}

declare i32 @pthread_cond_signal(ptr)

define ptr @tileproof_queue_new() nounwind {
  %1 = alloca ptr, align 8
  %2 = alloca ptr, align 8
  %3 = call i32 @posix_memalign(ptr %2, i64 128, i64 896)
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %30

5:
  %6 = call i32 @posix_memalign(ptr %1, i64 64, i64 8200)
  %7 = icmp eq i32 %6, 0
  br i1 %7, label %11, label %8

8:
  %9 = load ptr, ptr %2, align 8
  %10 = getelementptr inbounds i8, ptr %9, i64 288
  store ptr null, ptr %10, align 32
  call void @free(ptr %9)
  br label %30

11:
  %12 = load ptr, ptr %1, align 8
  store i64 256, ptr %12, align 8
  %13 = load ptr, ptr %2, align 8
  %14 = getelementptr inbounds i8, ptr %13, i64 288
  store ptr %12, ptr %14, align 32
  %15 = getelementptr inbounds i8, ptr %13, i64 264
  store i64 0, ptr %15, align 8
  %16 = getelementptr inbounds i8, ptr %13, i64 256
  store i64 0, ptr %16, align 128
  %17 = getelementptr inbounds i8, ptr %13, i64 128
  store i64 0, ptr %17, align 128
  store <4 x i64> zeroinitializer, ptr %13, align 128
  %18 = getelementptr inbounds i8, ptr %13, i64 320
  %19 = call i32 @pthread_mutex_init(ptr %18, ptr null)
  %20 = load ptr, ptr %2, align 8
  %21 = getelementptr inbounds i8, ptr %20, i64 448
  %22 = call i32 @pthread_mutex_init(ptr %21, ptr null)
  %23 = load ptr, ptr %2, align 8
  %24 = getelementptr inbounds i8, ptr %23, i64 576
  %25 = call i32 @pthread_cond_init(ptr %24, ptr null)
  %26 = load ptr, ptr %2, align 8
  %27 = getelementptr inbounds i8, ptr %26, i64 704
  %28 = call i32 @pthread_cond_init(ptr %27, ptr null)
  %29 = load ptr, ptr %2, align 8
  br label %30

30:
  %31 = phi ptr [ null, %8 ], [ %29, %11 ], [ null, %0 ]
  ret ptr %31
}

declare i32 @posix_memalign(ptr, i64, i64)

declare void @free(ptr)

declare i32 @pthread_mutex_init(ptr, ptr)

declare i32 @pthread_cond_init(ptr, ptr)

define range(i32 0, 2) i32 @tileproof_queue_start(ptr initializes((272, 288)) %0, ptr %1, ptr %2) nounwind {
  %4 = alloca i64, align 8
  %5 = getelementptr inbounds i8, ptr %0, i64 272
  store ptr %1, ptr %5, align 16
  %6 = getelementptr inbounds i8, ptr %0, i64 280
  store ptr %2, ptr %6, align 8
  %7 = call i32 @pthread_create(ptr %4, ptr null, ptr @worker, ptr %0)
  %8 = icmp eq i32 %7, 0
  br i1 %8, label %9, label %12

9:
  %10 = load i64, ptr %4, align 8
  %11 = call i32 @pthread_detach(i64 %10)
  br label %12

12:
  %13 = phi i32 [ 1, %9 ], [ 0, %3 ]
  ret i32 %13
}

declare i32 @pthread_create(ptr, ptr, ptr, ptr)

define internal ptr @worker(ptr %0) nounwind {
  %2 = alloca %struct.instant, align 8
  %3 = alloca %struct.instant, align 8
  %4 = alloca %struct.arena, align 8
  call void @llvm.memset.p0.i64(ptr align 8 %4, i8 0, i64 16, i1 false)
  %5 = load atomic i64, ptr %0 seq_cst, align 128
  %6 = getelementptr inbounds i8, ptr %0, i64 128
  %7 = getelementptr inbounds i8, ptr %3, i64 8
  %8 = getelementptr inbounds i8, ptr %2, i64 8
  %9 = getelementptr inbounds i8, ptr %0, i64 320
  %10 = getelementptr inbounds i8, ptr %0, i64 16
  %11 = getelementptr inbounds i8, ptr %0, i64 256
  %12 = getelementptr inbounds i8, ptr %0, i64 576
  %13 = getelementptr inbounds i8, ptr %0, i64 288
  %14 = getelementptr inbounds i8, ptr %4, i64 8
  %15 = getelementptr inbounds i8, ptr %0, i64 272
  %16 = getelementptr inbounds i8, ptr %0, i64 280
  %17 = getelementptr inbounds i8, ptr %0, i64 8
  %18 = getelementptr inbounds i8, ptr %0, i64 264
  %19 = getelementptr inbounds i8, ptr %0, i64 448
  %20 = getelementptr inbounds i8, ptr %0, i64 704
  br label %21

21:
  %22 = phi i64 [ %5, %1 ], [ %23, %154 ]
  %23 = add nsw i64 %22, 1
  %24 = load atomic i64, ptr %6 seq_cst, align 8
  %25 = icmp sgt i64 %24, %22
  br i1 %25, label %61, label %26

26:
  %27 = call i32 @clock_gettime(i32 0, ptr %3)
  %28 = load i64, ptr %3, align 8
  %29 = load i64, ptr %7, align 8
  br label %30

30:
  %31 = phi i32 [ 0, %26 ], [ %38, %37 ]
  %32 = load atomic i64, ptr %6 seq_cst, align 8
  %33 = icmp sgt i64 %32, %22
  br i1 %33, label %61, label %34

34:
  call void @tileproof_relax()
  %35 = add nuw nsw i32 %31, 1
  %36 = icmp eq i32 %35, 16
  br i1 %36, label %39, label %37

37:
  %38 = phi i32 [ %35, %34 ], [ 0, %39 ]
  br label %30

39:
  %40 = call i32 @clock_gettime(i32 0, ptr %2)
  %41 = load i64, ptr %2, align 8
  %42 = load i64, ptr %8, align 8
  %43 = sub i64 %41, %28
  %44 = mul i64 %43, 1000000000
  %45 = sub i64 %42, %29
  %46 = add i64 %45, %44
  %47 = icmp ult i64 %46, 20000
  br i1 %47, label %37, label %48

48:
  %49 = call i32 @pthread_mutex_lock(ptr %9)
  %50 = load atomic i64, ptr %6 seq_cst, align 128
  %51 = icmp sgt i64 %50, %22
  br i1 %51, label %59, label %52

52:
  %53 = load atomic i64, ptr %10 seq_cst, align 16
  %54 = icmp eq i64 %53, 0
  br i1 %54, label %55, label %59

55:
  store atomic i64 1, ptr %11 seq_cst, align 128
  %56 = call i32 @pthread_cond_wait(ptr %12, ptr %9)
  %57 = load atomic i64, ptr %6 seq_cst, align 128
  %58 = icmp sgt i64 %57, %22
  br i1 %58, label %59, label %52

59:
  store atomic i64 0, ptr %11 seq_cst, align 128
  %60 = call i32 @pthread_mutex_unlock(ptr %9)
  br label %61

61:
  %62 = load atomic i64, ptr %10 seq_cst, align 16
  %63 = icmp eq i64 %62, 0
  br i1 %63, label %64, label %159

64:
  %65 = load atomic i64, ptr %13 seq_cst, align 32
  %66 = inttoptr i64 %65 to ptr
  %67 = getelementptr inbounds i8, ptr %66, i64 8
  %68 = load i64, ptr %66, align 8
  %69 = srem i64 %23, %68
  %70 = getelementptr inbounds %struct.entry, ptr %67, i64 %69
  %71 = load ptr, ptr %70, align 8
  %72 = getelementptr inbounds i8, ptr %70, i64 8
  %73 = load i64, ptr %72, align 8
  %74 = getelementptr inbounds i8, ptr %70, i64 16
  %75 = load ptr, ptr %74, align 8
  %76 = getelementptr inbounds i8, ptr %70, i64 24
  %77 = load i64, ptr %76, align 8
  %78 = icmp eq ptr %75, null
  br i1 %78, label %85, label %79

79:
  %80 = load atomic i64, ptr %10 seq_cst, align 16
  %81 = icmp eq i64 %80, 0
  br i1 %81, label %82, label %85

82:
  %83 = call i32 @tileproof_queue_until(ptr %75, i64 %77, i64 50000000)
  %84 = icmp eq i32 %83, 0
  br i1 %84, label %79, label %85

85:
  %86 = icmp sgt i64 %73, 0
  br i1 %86, label %87, label %148

87:
  %88 = phi i64 [ %146, %145 ], [ 0, %85 ]
  %89 = load atomic i64, ptr %10 seq_cst, align 16
  %90 = icmp eq i64 %89, 0
  br i1 %90, label %91, label %148

91:
  %92 = getelementptr inbounds %struct.step, ptr %71, i64 %88
  %93 = load i64, ptr %92, align 8
  switch i64 %93, label %145 [
    i64 0, label %94
    i64 1, label %124
    i64 2, label %132
  ]

94:
  %95 = getelementptr inbounds i8, ptr %92, i64 40
  %96 = load i64, ptr %95, align 8
  %97 = load i64, ptr %14, align 8
  %98 = icmp sgt i64 %96, %97
  br i1 %98, label %99, label %108

99:
  %100 = load ptr, ptr %4, align 8
  call void @free(ptr %100)
  %101 = call i32 @posix_memalign(ptr %4, i64 64, i64 %96)
  %102 = icmp eq i32 %101, 0
  %103 = select i1 %102, i64 %96, i64 0
  store i64 %103, ptr %14, align 8
  %104 = icmp eq i64 %103, 0
  br i1 %104, label %107, label %105

105:
  %106 = load i64, ptr %95, align 8
  br label %108

107:
  store ptr null, ptr %4, align 8
  br label %143

108:
  %109 = phi i64 [ %106, %105 ], [ %96, %94 ]
  %110 = load ptr, ptr %15, align 16
  %111 = load ptr, ptr %16, align 8
  %112 = getelementptr inbounds i8, ptr %92, i64 8
  %113 = load ptr, ptr %112, align 8
  %114 = getelementptr inbounds i8, ptr %92, i64 16
  %115 = load ptr, ptr %114, align 8
  %116 = getelementptr inbounds i8, ptr %92, i64 24
  %117 = load i64, ptr %116, align 8
  %118 = getelementptr inbounds i8, ptr %92, i64 32
  %119 = load i64, ptr %118, align 8
  %120 = load ptr, ptr %4, align 8
  call void %110(ptr %111, ptr %113, ptr %115, i64 %117, i64 %119, i64 %109, ptr %120)
  %121 = getelementptr inbounds i8, ptr %92, i64 48
  %122 = load ptr, ptr %121, align 8
  %123 = icmp eq ptr %122, null
  br i1 %123, label %145, label %139

124:
  %125 = getelementptr inbounds i8, ptr %92, i64 8
  %126 = load ptr, ptr %125, align 8
  %127 = getelementptr inbounds i8, ptr %92, i64 16
  %128 = load ptr, ptr %127, align 8
  %129 = getelementptr inbounds i8, ptr %92, i64 24
  %130 = load i64, ptr %129, align 8
  %131 = call ptr @memcpy(ptr %126, ptr %128, i64 %130)
  br label %145

132:
  %133 = getelementptr inbounds i8, ptr %92, i64 8
  %134 = load ptr, ptr %133, align 8
  %135 = getelementptr inbounds i8, ptr %92, i64 16
  %136 = load ptr, ptr %135, align 8
  %137 = call i32 %134(ptr %136)
  %138 = icmp eq i32 %137, 0
  br i1 %138, label %145, label %143

139:
  %140 = getelementptr inbounds i8, ptr %122, i64 8
  %141 = load i64, ptr %140, align 8
  %142 = icmp eq i64 %141, 9223372036854775807
  br i1 %142, label %145, label %143

143:
  %144 = atomicrmw add ptr %17, i64 1 seq_cst, align 8
  br label %145

145:
  %146 = add nuw nsw i64 %88, 1
  %147 = icmp eq i64 %146, %73
  br i1 %147, label %148, label %87

148:
  %149 = load atomic i64, ptr %10 seq_cst, align 16
  %150 = icmp eq i64 %149, 0
  br i1 %150, label %151, label %159

151:
  store atomic i64 %23, ptr %0 seq_cst, align 128
  %152 = load atomic i64, ptr %18 seq_cst, align 8
  %153 = icmp eq i64 %152, 0
  br i1 %153, label %154, label %155

154:
  br label %21

155:
  %156 = call i32 @pthread_mutex_lock(ptr %19)
  %157 = call i32 @pthread_cond_broadcast(ptr %20)
  %158 = call i32 @pthread_mutex_unlock(ptr %19)
  br label %154

159:
  %160 = load ptr, ptr %4, align 8
  call void @free(ptr %160)
  %161 = call i32 @pthread_mutex_lock(ptr %19)
  %162 = getelementptr inbounds i8, ptr %0, i64 24
  store atomic i64 1, ptr %162 seq_cst, align 8
  %163 = call i32 @pthread_cond_broadcast(ptr %20)
  %164 = call i32 @pthread_mutex_unlock(ptr %19)
  ret ptr null
}

declare i32 @pthread_detach(i64)

declare void @tileproof_relax()

declare i32 @clock_gettime(i32, ptr)

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr readonly, i64, i1)

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

declare i32 @pthread_cond_wait(ptr, ptr)

declare ptr @memcpy(ptr, ptr, i64)
