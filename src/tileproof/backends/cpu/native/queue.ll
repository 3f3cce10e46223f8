; Made by tools/build_queue.py of queue.c, whose sha256 is 2b5097077bdd05e16db746145e6dbb7107899666ff787ea350235f0a89483173

%struct.instant = type { i64, i64 }
%struct.alarm = type { i64, i64 }
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
  %45 = getelementptr inbounds i8, ptr %0, i64 704
  %46 = call i32 @pthread_mutex_lock(ptr %45)
  %47 = getelementptr inbounds i8, ptr %0, i64 264
  %48 = atomicrmw add ptr %47, i64 1 seq_cst, align 8
  %49 = getelementptr inbounds i8, ptr %0, i64 24
  %50 = load atomic i64, ptr %0 seq_cst, align 128
  %51 = icmp slt i64 %50, %1
  br i1 %51, label %52, label %63

52:
  %53 = getelementptr inbounds i8, ptr %0, i64 960
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

define range(i32 0, 2) i32 @tileproof_queue_alarm(ptr %0, i64 %1, i64 %2, i64 %3) nounwind {
  %5 = getelementptr inbounds i8, ptr %0, i64 280
  %6 = getelementptr inbounds %struct.alarm, ptr %5, i64 %1
  %7 = getelementptr inbounds i8, ptr %6, i64 8
  store atomic i64 %3, ptr %7 seq_cst, align 8
  store atomic i64 %2, ptr %6 seq_cst, align 8
  %8 = getelementptr inbounds i8, ptr %0, i64 272
  store atomic i64 1, ptr %8 seq_cst, align 16
  %9 = load atomic i64, ptr %0 seq_cst, align 128
  %10 = icmp sge i64 %9, %2
  %11 = zext i1 %10 to i32
  ret i32 %11
}

define void @tileproof_queue_ring(ptr %0) nounwind {
  %2 = alloca i64, align 8
  store i64 1, ptr %2, align 8
  %3 = getelementptr inbounds i8, ptr %0, i64 8
  %4 = load atomic i64, ptr %3 seq_cst, align 8
  store atomic i64 9223372036854775807, ptr %0 seq_cst, align 8
  %5 = trunc i64 %4 to i32
  %6 = call i64 @write(i32 %5, ptr %2, i64 8)
  ret void
}

declare i64 @write(i32, ptr, i64)

define void @tileproof_queue_reach(ptr %0, i64 %1) nounwind {
  %3 = alloca i64, align 8
  store atomic i64 %1, ptr %0 seq_cst, align 128
  %4 = getelementptr inbounds i8, ptr %0, i64 264
  %5 = load atomic i64, ptr %4 seq_cst, align 8
  %6 = icmp eq i64 %5, 0
  br i1 %6, label %13, label %7

7:
  %8 = getelementptr inbounds i8, ptr %0, i64 704
  %9 = tail call i32 @pthread_mutex_lock(ptr %8)
  %10 = getelementptr inbounds i8, ptr %0, i64 960
  %11 = tail call i32 @pthread_cond_broadcast(ptr %10)
  %12 = tail call i32 @pthread_mutex_unlock(ptr %8)
  br label %13

13:
  %14 = getelementptr inbounds i8, ptr %0, i64 272
  %15 = load atomic i64, ptr %14 seq_cst, align 16
  %16 = icmp eq i64 %15, 0
  br i1 %16, label %33, label %17

17:
  store i64 1, ptr %3, align 8
  %18 = getelementptr inbounds i8, ptr %0, i64 280
  br label %19

19:
  %20 = phi i64 [ 0, %17 ], [ %30, %29 ]
  %21 = getelementptr inbounds %struct.alarm, ptr %18, i64 %20
  %22 = load atomic i64, ptr %21 seq_cst, align 8
  %23 = icmp sgt i64 %22, %1
  br i1 %23, label %29, label %24

24:
  store atomic i64 9223372036854775807, ptr %21 seq_cst, align 8
  %25 = getelementptr inbounds i8, ptr %21, i64 8
  %26 = load atomic i64, ptr %25 seq_cst, align 8
  %27 = trunc i64 %26 to i32
  %28 = call i64 @write(i32 %27, ptr %3, i64 8)
  br label %29

29:
  %30 = add nuw nsw i64 %20, 1
  %31 = icmp eq i64 %30, 16
  br i1 %31, label %32, label %19

32:
  br label %33

33:
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
  %4 = getelementptr inbounds i8, ptr %0, i64 576
  %5 = tail call i32 @pthread_mutex_lock(ptr %4)
  %6 = getelementptr inbounds i8, ptr %0, i64 128
  %7 = load i64, ptr %6, align 128
  %8 = load atomic i64, ptr %0 seq_cst, align 128
  %9 = add i64 %7, 1
  %10 = sub i64 %9, %8
  %11 = getelementptr inbounds i8, ptr %0, i64 560
  %12 = load i64, ptr %11, align 16
  %13 = icmp slt i64 %10, %12
  br i1 %13, label %14, label %17

14:
  %15 = getelementptr inbounds i8, ptr %0, i64 552
  %16 = load ptr, ptr %15, align 8
  br label %44

17:
  %18 = shl nsw i64 %12, 1
  %19 = shl i64 %12, 6
  %20 = call i32 @posix_memalign(ptr %3, i64 64, i64 %19)
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %22, label %43

22:
  %23 = load ptr, ptr %3, align 8
  %24 = load atomic i64, ptr %0 seq_cst, align 128
  %25 = load i64, ptr %6, align 128
  %26 = icmp sgt i64 %24, %25
  br i1 %26, label %29, label %27

27:
  %28 = getelementptr inbounds i8, ptr %0, i64 552
  br label %32

29:
  %30 = getelementptr inbounds i8, ptr %0, i64 552
  %31 = load ptr, ptr %30, align 8
  call void @free(ptr %31)
  store ptr %23, ptr %30, align 8
  store i64 %18, ptr %11, align 16
  br label %44

32:
  %33 = phi i64 [ %24, %27 ], [ %40, %32 ]
  %34 = srem i64 %33, %18
  %35 = getelementptr inbounds %struct.entry, ptr %23, i64 %34
  %36 = load ptr, ptr %28, align 8
  %37 = load i64, ptr %11, align 16
  %38 = srem i64 %33, %37
  %39 = getelementptr inbounds %struct.entry, ptr %36, i64 %38
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %35, ptr align 8 %39, i64 32, i1 false)
  %40 = add nsw i64 %33, 1
  %41 = load i64, ptr %6, align 128
  %42 = icmp slt i64 %33, %41
  br i1 %42, label %32, label %29

43:
  br label %57

44:
  %45 = phi i64 [ %12, %14 ], [ %18, %29 ]
  %46 = phi ptr [ %16, %14 ], [ %23, %29 ]
  %47 = load i64, ptr %6, align 128
  %48 = add nsw i64 %47, 1
  %49 = srem i64 %48, %45
  %50 = getelementptr inbounds %struct.entry, ptr %46, i64 %49
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %50, ptr align 8 %1, i64 32, i1 false)
  store atomic i64 %48, ptr %6 seq_cst, align 128
  %51 = getelementptr inbounds i8, ptr %0, i64 256
  %52 = load atomic i64, ptr %51 seq_cst, align 128
  %53 = icmp eq i64 %52, 0
  br i1 %53, label %57, label %54

54:
  %55 = getelementptr inbounds i8, ptr %0, i64 832
  %56 = call i32 @pthread_cond_signal(ptr %55)
  br label %57

57:
  %58 = phi i64 [ %48, %54 ], [ %48, %44 ], [ 0, %43 ]
  %59 = call i32 @pthread_mutex_unlock(ptr %4)
  ret i64 %58
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
  %2 = getelementptr inbounds i8, ptr %0, i64 576
  %3 = tail call i32 @pthread_mutex_lock(ptr %2)
  %4 = getelementptr inbounds i8, ptr %0, i64 16
  store atomic i64 1, ptr %4 seq_cst, align 16
  %5 = getelementptr inbounds i8, ptr %0, i64 832
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
  %3 = call i32 @posix_memalign(ptr %1, i64 128, i64 1152)
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %40

5:
  %6 = load ptr, ptr %1, align 8
  %7 = getelementptr inbounds i8, ptr %6, i64 560
  store i64 256, ptr %7, align 16
  %8 = call i32 @posix_memalign(ptr %2, i64 64, i64 8192)
  %9 = icmp eq i32 %8, 0
  br i1 %9, label %12, label %10

10:
  %11 = load ptr, ptr %1, align 8
  call void @free(ptr %11)
  br label %40

12:
  %13 = load ptr, ptr %2, align 8
  %14 = load ptr, ptr %1, align 8
  %15 = getelementptr inbounds i8, ptr %14, i64 552
  store ptr %13, ptr %15, align 8
  %16 = getelementptr inbounds i8, ptr %14, i64 264
  store i64 0, ptr %16, align 8
  %17 = getelementptr inbounds i8, ptr %14, i64 256
  store i64 0, ptr %17, align 128
  %18 = getelementptr inbounds i8, ptr %14, i64 128
  store i64 0, ptr %18, align 128
  store <4 x i64> zeroinitializer, ptr %14, align 128
  %19 = getelementptr inbounds i8, ptr %14, i64 272
  store i64 0, ptr %19, align 16
  %20 = getelementptr inbounds i8, ptr %14, i64 280
  br label %34

21:
  %22 = getelementptr inbounds i8, ptr %14, i64 576
  %23 = call i32 @pthread_mutex_init(ptr %22, ptr null)
  %24 = load ptr, ptr %1, align 8
  %25 = getelementptr inbounds i8, ptr %24, i64 704
  %26 = call i32 @pthread_mutex_init(ptr %25, ptr null)
  %27 = load ptr, ptr %1, align 8
  %28 = getelementptr inbounds i8, ptr %27, i64 832
  %29 = call i32 @pthread_cond_init(ptr %28, ptr null)
  %30 = load ptr, ptr %1, align 8
  %31 = getelementptr inbounds i8, ptr %30, i64 960
  %32 = call i32 @pthread_cond_init(ptr %31, ptr null)
  %33 = load ptr, ptr %1, align 8
  br label %40

34:
  %35 = phi i64 [ 0, %12 ], [ %38, %34 ]
  %36 = getelementptr inbounds %struct.alarm, ptr %20, i64 %35
  store i64 9223372036854775807, ptr %36, align 8
  %37 = getelementptr inbounds i8, ptr %36, i64 8
  store i64 -1, ptr %37, align 8
  %38 = add nuw nsw i64 %35, 1
  %39 = icmp eq i64 %38, 16
  br i1 %39, label %21, label %34

40:
  %41 = phi ptr [ %33, %21 ], [ null, %10 ], [ null, %0 ]
  ret ptr %41
}

declare i32 @posix_memalign(ptr, i64, i64)

declare void @free(ptr)

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr readonly, i64, i1)

declare i32 @pthread_mutex_init(ptr, ptr)

declare i32 @pthread_cond_init(ptr, ptr)

define range(i32 0, 2) i32 @tileproof_queue_start(ptr initializes((536, 552)) %0, ptr %1, ptr %2) nounwind {
  %4 = alloca i64, align 8
  %5 = getelementptr inbounds i8, ptr %0, i64 536
  store ptr %1, ptr %5, align 8
  %6 = getelementptr inbounds i8, ptr %0, i64 544
  store ptr %2, ptr %6, align 32
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
  %2 = alloca i64, align 8
  %3 = alloca %struct.instant, align 8
  %4 = alloca %struct.instant, align 8
  %5 = alloca %struct.arena, align 8
  call void @llvm.memset.p0.i64(ptr align 8 %5, i8 0, i64 16, i1 false)
  %6 = load atomic i64, ptr %0 seq_cst, align 128
  %7 = getelementptr inbounds i8, ptr %0, i64 128
  %8 = getelementptr inbounds i8, ptr %4, i64 8
  %9 = getelementptr inbounds i8, ptr %3, i64 8
  %10 = getelementptr inbounds i8, ptr %0, i64 576
  %11 = getelementptr inbounds i8, ptr %0, i64 16
  %12 = getelementptr inbounds i8, ptr %0, i64 256
  %13 = getelementptr inbounds i8, ptr %0, i64 832
  %14 = getelementptr inbounds i8, ptr %0, i64 552
  %15 = getelementptr inbounds i8, ptr %0, i64 560
  %16 = getelementptr inbounds i8, ptr %5, i64 8
  %17 = getelementptr inbounds i8, ptr %0, i64 536
  %18 = getelementptr inbounds i8, ptr %0, i64 544
  %19 = getelementptr inbounds i8, ptr %0, i64 8
  %20 = getelementptr inbounds i8, ptr %0, i64 264
  %21 = getelementptr inbounds i8, ptr %0, i64 704
  %22 = getelementptr inbounds i8, ptr %0, i64 960
  %23 = getelementptr inbounds i8, ptr %0, i64 272
  %24 = getelementptr inbounds i8, ptr %0, i64 280
  br label %25

25:
  %26 = phi i64 [ %6, %1 ], [ %27, %162 ]
  %27 = add nsw i64 %26, 1
  %28 = load atomic i64, ptr %7 seq_cst, align 8
  %29 = icmp sgt i64 %28, %26
  br i1 %29, label %52, label %30

30:
  %31 = call i32 @clock_gettime(i32 0, ptr %4)
  %32 = load i64, ptr %4, align 8
  %33 = load i64, ptr %8, align 8
  br label %34

34:
  %35 = phi i32 [ 0, %30 ], [ %42, %41 ]
  %36 = load atomic i64, ptr %7 seq_cst, align 8
  %37 = icmp sgt i64 %36, %26
  br i1 %37, label %52, label %38

38:
  call void @tileproof_relax()
  %39 = add nuw nsw i32 %35, 1
  %40 = icmp eq i32 %39, 16
  br i1 %40, label %43, label %41

41:
  %42 = phi i32 [ %39, %38 ], [ 0, %43 ]
  br label %34

43:
  %44 = call i32 @clock_gettime(i32 0, ptr %3)
  %45 = load i64, ptr %3, align 8
  %46 = load i64, ptr %9, align 8
  %47 = sub i64 %45, %32
  %48 = mul i64 %47, 1000000000
  %49 = sub i64 %46, %33
  %50 = add i64 %49, %48
  %51 = icmp ult i64 %50, 20000
  br i1 %51, label %41, label %52

52:
  %53 = call i32 @pthread_mutex_lock(ptr %10)
  %54 = load atomic i64, ptr %7 seq_cst, align 128
  %55 = icmp sgt i64 %54, %26
  br i1 %55, label %63, label %56

56:
  %57 = load atomic i64, ptr %11 seq_cst, align 16
  %58 = icmp eq i64 %57, 0
  br i1 %58, label %59, label %63

59:
  store atomic i64 1, ptr %12 seq_cst, align 128
  %60 = call i32 @pthread_cond_wait(ptr %13, ptr %10)
  %61 = load atomic i64, ptr %7 seq_cst, align 128
  %62 = icmp sgt i64 %61, %26
  br i1 %62, label %63, label %56

63:
  store atomic i64 0, ptr %12 seq_cst, align 128
  %64 = load ptr, ptr %14, align 8
  %65 = load i64, ptr %15, align 16
  %66 = srem i64 %27, %65
  %67 = getelementptr inbounds %struct.entry, ptr %64, i64 %66
  %68 = load ptr, ptr %67, align 8
  %69 = getelementptr inbounds i8, ptr %67, i64 8
  %70 = load i64, ptr %69, align 8
  %71 = getelementptr inbounds i8, ptr %67, i64 16
  %72 = load ptr, ptr %71, align 8
  %73 = getelementptr inbounds i8, ptr %67, i64 24
  %74 = load i64, ptr %73, align 8
  %75 = call i32 @pthread_mutex_unlock(ptr %10)
  %76 = load atomic i64, ptr %11 seq_cst, align 16
  %77 = icmp eq i64 %76, 0
  br i1 %77, label %78, label %178

78:
  %79 = icmp eq ptr %72, null
  br i1 %79, label %86, label %80

80:
  %81 = load atomic i64, ptr %11 seq_cst, align 16
  %82 = icmp eq i64 %81, 0
  br i1 %82, label %83, label %86

83:
  %84 = call i32 @tileproof_queue_until(ptr %72, i64 %74, i64 50000000)
  %85 = icmp eq i32 %84, 0
  br i1 %85, label %80, label %86

86:
  %87 = icmp sgt i64 %70, 0
  br i1 %87, label %88, label %149

88:
  %89 = phi i64 [ %147, %146 ], [ 0, %86 ]
  %90 = load atomic i64, ptr %11 seq_cst, align 16
  %91 = icmp eq i64 %90, 0
  br i1 %91, label %92, label %149

92:
  %93 = getelementptr inbounds %struct.step, ptr %68, i64 %89
  %94 = load i64, ptr %93, align 8
  switch i64 %94, label %146 [
    i64 0, label %95
    i64 1, label %125
    i64 2, label %133
  ]

95:
  %96 = getelementptr inbounds i8, ptr %93, i64 40
  %97 = load i64, ptr %96, align 8
  %98 = load i64, ptr %16, align 8
  %99 = icmp sgt i64 %97, %98
  br i1 %99, label %100, label %109

100:
  %101 = load ptr, ptr %5, align 8
  call void @free(ptr %101)
  %102 = call i32 @posix_memalign(ptr %5, i64 64, i64 %97)
  %103 = icmp eq i32 %102, 0
  %104 = select i1 %103, i64 %97, i64 0
  store i64 %104, ptr %16, align 8
  %105 = icmp eq i64 %104, 0
  br i1 %105, label %108, label %106

106:
  %107 = load i64, ptr %96, align 8
  br label %109

108:
  store ptr null, ptr %5, align 8
  br label %144

109:
  %110 = phi i64 [ %107, %106 ], [ %97, %95 ]
  %111 = load ptr, ptr %17, align 8
  %112 = load ptr, ptr %18, align 32
  %113 = getelementptr inbounds i8, ptr %93, i64 8
  %114 = load ptr, ptr %113, align 8
  %115 = getelementptr inbounds i8, ptr %93, i64 16
  %116 = load ptr, ptr %115, align 8
  %117 = getelementptr inbounds i8, ptr %93, i64 24
  %118 = load i64, ptr %117, align 8
  %119 = getelementptr inbounds i8, ptr %93, i64 32
  %120 = load i64, ptr %119, align 8
  %121 = load ptr, ptr %5, align 8
  call void %111(ptr %112, ptr %114, ptr %116, i64 %118, i64 %120, i64 %110, ptr %121)
  %122 = getelementptr inbounds i8, ptr %93, i64 48
  %123 = load ptr, ptr %122, align 8
  %124 = icmp eq ptr %123, null
  br i1 %124, label %146, label %140

125:
  %126 = getelementptr inbounds i8, ptr %93, i64 8
  %127 = load ptr, ptr %126, align 8
  %128 = getelementptr inbounds i8, ptr %93, i64 16
  %129 = load ptr, ptr %128, align 8
  %130 = getelementptr inbounds i8, ptr %93, i64 24
  %131 = load i64, ptr %130, align 8
  %132 = call ptr @memcpy(ptr %127, ptr %129, i64 %131)
  br label %146

133:
  %134 = getelementptr inbounds i8, ptr %93, i64 8
  %135 = load ptr, ptr %134, align 8
  %136 = getelementptr inbounds i8, ptr %93, i64 16
  %137 = load ptr, ptr %136, align 8
  %138 = call i32 %135(ptr %137)
  %139 = icmp eq i32 %138, 0
  br i1 %139, label %146, label %144

140:
  %141 = getelementptr inbounds i8, ptr %123, i64 8
  %142 = load i64, ptr %141, align 8
  %143 = icmp eq i64 %142, 9223372036854775807
  br i1 %143, label %146, label %144

144:
  %145 = atomicrmw add ptr %19, i64 1 seq_cst, align 8
  br label %146

146:
  %147 = add nuw nsw i64 %89, 1
  %148 = icmp eq i64 %147, %70
  br i1 %148, label %149, label %88

149:
  %150 = load atomic i64, ptr %11 seq_cst, align 16
  %151 = icmp eq i64 %150, 0
  br i1 %151, label %152, label %178

152:
  store atomic i64 %27, ptr %0 seq_cst, align 128
  %153 = load atomic i64, ptr %20 seq_cst, align 8
  %154 = icmp eq i64 %153, 0
  br i1 %154, label %159, label %155

155:
  %156 = call i32 @pthread_mutex_lock(ptr %21)
  %157 = call i32 @pthread_cond_broadcast(ptr %22)
  %158 = call i32 @pthread_mutex_unlock(ptr %21)
  br label %159

159:
  %160 = load atomic i64, ptr %23 seq_cst, align 16
  %161 = icmp eq i64 %160, 0
  br i1 %161, label %162, label %163

162:
  br label %25

163:
  store i64 1, ptr %2, align 8
  br label %164

164:
  %165 = phi i64 [ 0, %163 ], [ %175, %174 ]
  %166 = getelementptr inbounds %struct.alarm, ptr %24, i64 %165
  %167 = load atomic i64, ptr %166 seq_cst, align 8
  %168 = icmp sgt i64 %167, %27
  br i1 %168, label %174, label %169

169:
  store atomic i64 9223372036854775807, ptr %166 seq_cst, align 8
  %170 = getelementptr inbounds i8, ptr %166, i64 8
  %171 = load atomic i64, ptr %170 seq_cst, align 8
  %172 = trunc i64 %171 to i32
  %173 = call i64 @write(i32 %172, ptr %2, i64 8)
  br label %174

174:
  %175 = add nuw nsw i64 %165, 1
  %176 = icmp eq i64 %175, 16
  br i1 %176, label %177, label %164

177:
  br label %162

178:
  %179 = load ptr, ptr %5, align 8
  call void @free(ptr %179)
  %180 = call i32 @pthread_mutex_lock(ptr %21)
  %181 = getelementptr inbounds i8, ptr %0, i64 24
  store atomic i64 1, ptr %181 seq_cst, align 8
  %182 = call i32 @pthread_cond_broadcast(ptr %22)
  %183 = call i32 @pthread_mutex_unlock(ptr %21)
  ret ptr null
}

declare i32 @pthread_detach(i64)

declare void @tileproof_relax()

declare i32 @clock_gettime(i32, ptr)

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

declare i32 @pthread_cond_wait(ptr, ptr)

declare ptr @memcpy(ptr, ptr, i64)
