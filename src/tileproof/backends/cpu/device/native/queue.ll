; Made by tools/build_native.py of queue.c, whose sha256 is 9c1dfbf3453e8afb6dceedb46c075876171b40c3172f8bc45b3d7cd78c51de8e

%struct.instant = type { i64, i64 }
%struct.step = type { i64, ptr, ptr, i64, i64, i64, ptr }
%struct.entry = type { ptr, i64, ptr, i64 }

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

define i64 @tileproof_queue_run(ptr initializes((272, 288)) %0, ptr %1, ptr %2, ptr readonly %3, i64 %4, i64 %5) nounwind {
  %7 = getelementptr inbounds i8, ptr %0, i64 272
  store ptr %1, ptr %7, align 16
  %8 = getelementptr inbounds i8, ptr %0, i64 280
  store ptr %2, ptr %8, align 8
  %9 = icmp sgt i64 %4, 0
  br i1 %9, label %12, label %21

10:
  %11 = icmp eq i64 %18, 0
  br i1 %11, label %21, label %31

12:
  %13 = phi i64 [ %19, %12 ], [ 0, %6 ]
  %14 = phi i64 [ %18, %12 ], [ 0, %6 ]
  %15 = getelementptr inbounds %struct.step, ptr %3, i64 %13
  %16 = tail call fastcc i32 @do_step(ptr %0, ptr %15)
  %17 = sext i32 %16 to i64
  %18 = add nsw i64 %14, %17
  %19 = add nuw nsw i64 %13, 1
  %20 = icmp eq i64 %19, %4
  br i1 %20, label %10, label %12

21:
  store atomic i64 %5, ptr %0 seq_cst, align 128
  %22 = getelementptr inbounds i8, ptr %0, i64 264
  %23 = load atomic i64, ptr %22 seq_cst, align 8
  %24 = icmp eq i64 %23, 0
  br i1 %24, label %31, label %25

25:
  %26 = getelementptr inbounds i8, ptr %0, i64 448
  %27 = tail call i32 @pthread_mutex_lock(ptr %26)
  %28 = getelementptr inbounds i8, ptr %0, i64 704
  %29 = tail call i32 @pthread_cond_broadcast(ptr %28)
  %30 = tail call i32 @pthread_mutex_unlock(ptr %26)
  br label %31

31:
  %32 = phi i64 [ 0, %25 ], [ 0, %21 ], [ %18, %10 ]
  ret i64 %32
}

define internal fastcc i32 @do_step(ptr %0, ptr readonly %1) unnamed_addr nounwind {
  %3 = getelementptr inbounds i8, ptr %0, i64 288
  %4 = load i64, ptr %1, align 8
  switch i64 %4, label %78 [
    i64 0, label %14
    i64 1, label %52
    i64 2, label %60
    i64 3, label %5
  ]

5:
  %6 = getelementptr inbounds i8, ptr %1, i64 24
  %7 = load i64, ptr %6, align 8
  %8 = icmp sgt i64 %7, 0
  br i1 %8, label %9, label %78

9:
  %10 = getelementptr inbounds i8, ptr %1, i64 16
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds i8, ptr %1, i64 32
  %13 = load i64, ptr %12, align 8
  br label %69

14:
  %15 = getelementptr inbounds i8, ptr %1, i64 40
  %16 = load i64, ptr %15, align 8
  %17 = getelementptr inbounds i8, ptr %0, i64 296
  %18 = load i64, ptr %17, align 8
  %19 = icmp sgt i64 %16, %18
  br i1 %19, label %20, label %29

20:
  %21 = load ptr, ptr %3, align 8
  tail call void @free(ptr %21)
  %22 = tail call i32 @posix_memalign(ptr %3, i64 64, i64 %16)
  %23 = icmp eq i32 %22, 0
  %24 = select i1 %23, i64 %16, i64 0
  store i64 %24, ptr %17, align 8
  %25 = icmp eq i64 %24, 0
  br i1 %25, label %28, label %26

26:
  %27 = load i64, ptr %15, align 8
  br label %29

28:
  store ptr null, ptr %3, align 8
  br label %78

29:
  %30 = phi i64 [ %27, %26 ], [ %16, %14 ]
  %31 = getelementptr inbounds i8, ptr %0, i64 272
  %32 = load ptr, ptr %31, align 16
  %33 = getelementptr inbounds i8, ptr %0, i64 280
  %34 = load ptr, ptr %33, align 8
  %35 = getelementptr inbounds i8, ptr %1, i64 8
  %36 = load ptr, ptr %35, align 8
  %37 = getelementptr inbounds i8, ptr %1, i64 16
  %38 = load ptr, ptr %37, align 8
  %39 = getelementptr inbounds i8, ptr %1, i64 24
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr inbounds i8, ptr %1, i64 32
  %42 = load i64, ptr %41, align 8
  %43 = load ptr, ptr %3, align 16
  tail call void %32(ptr %34, ptr %36, ptr %38, i64 %40, i64 %42, i64 %30, ptr %43)
  %44 = getelementptr inbounds i8, ptr %1, i64 48
  %45 = load ptr, ptr %44, align 8
  %46 = icmp eq ptr %45, null
  br i1 %46, label %78, label %47

47:
  %48 = getelementptr inbounds i8, ptr %45, i64 8
  %49 = load i64, ptr %48, align 8
  %50 = icmp ne i64 %49, 9223372036854775807
  %51 = zext i1 %50 to i32
  br label %78

52:
  %53 = getelementptr inbounds i8, ptr %1, i64 8
  %54 = load ptr, ptr %53, align 8
  %55 = getelementptr inbounds i8, ptr %1, i64 16
  %56 = load ptr, ptr %55, align 8
  %57 = getelementptr inbounds i8, ptr %1, i64 24
  %58 = load i64, ptr %57, align 8
  %59 = tail call ptr @memcpy(ptr %54, ptr %56, i64 %58)
  br label %78

60:
  %61 = getelementptr inbounds i8, ptr %1, i64 8
  %62 = load ptr, ptr %61, align 8
  %63 = getelementptr inbounds i8, ptr %1, i64 16
  %64 = load ptr, ptr %63, align 8
  %65 = tail call i32 %62(ptr %64)
  br label %78

66:
  %67 = icmp ne i64 %75, 0
  %68 = zext i1 %67 to i32
  br label %78

69:
  %70 = phi i64 [ 0, %9 ], [ %76, %69 ]
  %71 = phi i64 [ 0, %9 ], [ %75, %69 ]
  %72 = mul nsw i64 %13, %70
  %73 = getelementptr inbounds i64, ptr %11, i64 %72
  %74 = load i64, ptr %73, align 8
  %75 = or i64 %74, %71
  %76 = add nuw nsw i64 %70, 1
  %77 = icmp eq i64 %76, %7
  br i1 %77, label %66, label %69

78:
  %79 = phi i32 [ %51, %47 ], [ 1, %28 ], [ 1, %2 ], [ 0, %52 ], [ %65, %60 ], [ 0, %29 ], [ 0, %5 ], [ %68, %66 ]
  ret i32 %79
}

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
  %6 = getelementptr inbounds i8, ptr %0, i64 304
  %7 = load ptr, ptr %6, align 16
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
  store atomic i64 %43, ptr %6 seq_cst, align 16
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
  br i1 %4, label %5, label %32

5:
  %6 = call i32 @posix_memalign(ptr %1, i64 64, i64 8200)
  %7 = icmp eq i32 %6, 0
  br i1 %7, label %11, label %8

8:
  %9 = load ptr, ptr %2, align 8
  %10 = getelementptr inbounds i8, ptr %9, i64 304
  store ptr null, ptr %10, align 16
  call void @free(ptr %9)
  br label %32

11:
  %12 = load ptr, ptr %1, align 8
  store i64 256, ptr %12, align 8
  %13 = load ptr, ptr %2, align 8
  %14 = getelementptr inbounds i8, ptr %13, i64 304
  store ptr %12, ptr %14, align 16
  %15 = getelementptr inbounds i8, ptr %13, i64 288
  store ptr null, ptr %15, align 32
  %16 = getelementptr inbounds i8, ptr %13, i64 296
  store i64 0, ptr %16, align 8
  %17 = getelementptr inbounds i8, ptr %13, i64 264
  store i64 0, ptr %17, align 8
  %18 = getelementptr inbounds i8, ptr %13, i64 256
  store i64 0, ptr %18, align 128
  %19 = getelementptr inbounds i8, ptr %13, i64 128
  store i64 0, ptr %19, align 128
  store <4 x i64> zeroinitializer, ptr %13, align 128
  %20 = getelementptr inbounds i8, ptr %13, i64 320
  %21 = call i32 @pthread_mutex_init(ptr %20, ptr null)
  %22 = load ptr, ptr %2, align 8
  %23 = getelementptr inbounds i8, ptr %22, i64 448
  %24 = call i32 @pthread_mutex_init(ptr %23, ptr null)
  %25 = load ptr, ptr %2, align 8
  %26 = getelementptr inbounds i8, ptr %25, i64 576
  %27 = call i32 @pthread_cond_init(ptr %26, ptr null)
  %28 = load ptr, ptr %2, align 8
  %29 = getelementptr inbounds i8, ptr %28, i64 704
  %30 = call i32 @pthread_cond_init(ptr %29, ptr null)
  %31 = load ptr, ptr %2, align 8
  br label %32

32:
  %33 = phi ptr [ null, %8 ], [ %31, %11 ], [ null, %0 ]
  ret ptr %33
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
  %4 = load atomic i64, ptr %0 seq_cst, align 128
  %5 = getelementptr inbounds i8, ptr %0, i64 128
  %6 = getelementptr inbounds i8, ptr %3, i64 8
  %7 = getelementptr inbounds i8, ptr %2, i64 8
  %8 = getelementptr inbounds i8, ptr %0, i64 320
  %9 = getelementptr inbounds i8, ptr %0, i64 16
  %10 = getelementptr inbounds i8, ptr %0, i64 256
  %11 = getelementptr inbounds i8, ptr %0, i64 576
  %12 = getelementptr inbounds i8, ptr %0, i64 304
  %13 = getelementptr inbounds i8, ptr %0, i64 8
  %14 = getelementptr inbounds i8, ptr %0, i64 264
  %15 = getelementptr inbounds i8, ptr %0, i64 448
  %16 = getelementptr inbounds i8, ptr %0, i64 704
  br label %17

17:
  %18 = phi i64 [ %4, %1 ], [ %19, %102 ]
  %19 = add nsw i64 %18, 1
  %20 = load atomic i64, ptr %5 seq_cst, align 8
  %21 = icmp sgt i64 %20, %18
  br i1 %21, label %57, label %22

22:
  %23 = call i32 @clock_gettime(i32 0, ptr %3)
  %24 = load i64, ptr %3, align 8
  %25 = load i64, ptr %6, align 8
  br label %26

26:
  %27 = phi i32 [ 0, %22 ], [ %34, %33 ]
  %28 = load atomic i64, ptr %5 seq_cst, align 8
  %29 = icmp sgt i64 %28, %18
  br i1 %29, label %57, label %30

30:
  call void @tileproof_relax()
  %31 = add nuw nsw i32 %27, 1
  %32 = icmp eq i32 %31, 16
  br i1 %32, label %35, label %33

33:
  %34 = phi i32 [ %31, %30 ], [ 0, %35 ]
  br label %26

35:
  %36 = call i32 @clock_gettime(i32 0, ptr %2)
  %37 = load i64, ptr %2, align 8
  %38 = load i64, ptr %7, align 8
  %39 = sub i64 %37, %24
  %40 = mul i64 %39, 1000000000
  %41 = sub i64 %38, %25
  %42 = add i64 %41, %40
  %43 = icmp ult i64 %42, 20000
  br i1 %43, label %33, label %44

44:
  %45 = call i32 @pthread_mutex_lock(ptr %8)
  %46 = load atomic i64, ptr %5 seq_cst, align 128
  %47 = icmp sgt i64 %46, %18
  br i1 %47, label %55, label %48

48:
  %49 = load atomic i64, ptr %9 seq_cst, align 16
  %50 = icmp eq i64 %49, 0
  br i1 %50, label %51, label %55

51:
  store atomic i64 1, ptr %10 seq_cst, align 128
  %52 = call i32 @pthread_cond_wait(ptr %11, ptr %8)
  %53 = load atomic i64, ptr %5 seq_cst, align 128
  %54 = icmp sgt i64 %53, %18
  br i1 %54, label %55, label %48

55:
  store atomic i64 0, ptr %10 seq_cst, align 128
  %56 = call i32 @pthread_mutex_unlock(ptr %8)
  br label %57

57:
  %58 = load atomic i64, ptr %9 seq_cst, align 16
  %59 = icmp eq i64 %58, 0
  br i1 %59, label %60, label %107

60:
  %61 = load atomic i64, ptr %12 seq_cst, align 16
  %62 = inttoptr i64 %61 to ptr
  %63 = getelementptr inbounds i8, ptr %62, i64 8
  %64 = load i64, ptr %62, align 8
  %65 = srem i64 %19, %64
  %66 = getelementptr inbounds %struct.entry, ptr %63, i64 %65
  %67 = load ptr, ptr %66, align 8
  %68 = getelementptr inbounds i8, ptr %66, i64 8
  %69 = load i64, ptr %68, align 8
  %70 = getelementptr inbounds i8, ptr %66, i64 16
  %71 = load ptr, ptr %70, align 8
  %72 = getelementptr inbounds i8, ptr %66, i64 24
  %73 = load i64, ptr %72, align 8
  %74 = icmp eq ptr %71, null
  br i1 %74, label %81, label %75

75:
  %76 = load atomic i64, ptr %9 seq_cst, align 16
  %77 = icmp eq i64 %76, 0
  br i1 %77, label %78, label %81

78:
  %79 = call i32 @tileproof_queue_until(ptr %71, i64 %73, i64 50000000)
  %80 = icmp eq i32 %79, 0
  br i1 %80, label %75, label %81

81:
  %82 = icmp sgt i64 %69, 0
  br i1 %82, label %83, label %96

83:
  %84 = phi i64 [ %94, %93 ], [ 0, %81 ]
  %85 = load atomic i64, ptr %9 seq_cst, align 16
  %86 = icmp eq i64 %85, 0
  br i1 %86, label %87, label %96

87:
  %88 = getelementptr inbounds %struct.step, ptr %67, i64 %84
  %89 = call fastcc i32 @do_step(ptr %0, ptr %88)
  %90 = icmp eq i32 %89, 0
  br i1 %90, label %93, label %91

91:
  %92 = atomicrmw add ptr %13, i64 1 seq_cst, align 8
  br label %93

93:
  %94 = add nuw nsw i64 %84, 1
  %95 = icmp eq i64 %94, %69
  br i1 %95, label %96, label %83

96:
  %97 = load atomic i64, ptr %9 seq_cst, align 16
  %98 = icmp eq i64 %97, 0
  br i1 %98, label %99, label %107

99:
  store atomic i64 %19, ptr %0 seq_cst, align 128
  %100 = load atomic i64, ptr %14 seq_cst, align 8
  %101 = icmp eq i64 %100, 0
  br i1 %101, label %102, label %103

102:
  br label %17

103:
  %104 = call i32 @pthread_mutex_lock(ptr %15)
  %105 = call i32 @pthread_cond_broadcast(ptr %16)
  %106 = call i32 @pthread_mutex_unlock(ptr %15)
  br label %102

107:
  %108 = getelementptr inbounds i8, ptr %0, i64 288
  %109 = load ptr, ptr %108, align 32
  call void @free(ptr %109)
  %110 = call i32 @pthread_mutex_lock(ptr %15)
  %111 = getelementptr inbounds i8, ptr %0, i64 24
  store atomic i64 1, ptr %111 seq_cst, align 8
  %112 = call i32 @pthread_cond_broadcast(ptr %16)
  %113 = call i32 @pthread_mutex_unlock(ptr %15)
  ret ptr null
}

declare i32 @pthread_detach(i64)

declare void @tileproof_relax()

declare i32 @clock_gettime(i32, ptr)

declare ptr @memcpy(ptr, ptr, i64)

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr readonly, i64, i1)

declare i32 @pthread_cond_wait(ptr, ptr)
