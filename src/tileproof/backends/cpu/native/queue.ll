; Made by tools/build_queue.py of queue.c, whose sha256 is 6200dbbe4c560a04164152da38471419eda9b319dd9367ef22349ab68b83e03f

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
  %6 = getelementptr inbounds i8, ptr %0, i64 552
  %7 = load ptr, ptr %6, align 8
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
  store atomic i64 %43, ptr %6 seq_cst, align 8
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
  %58 = getelementptr inbounds i8, ptr %0, i64 832
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
  %3 = call i32 @posix_memalign(ptr %2, i64 128, i64 1152)
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %39

5:
  %6 = call i32 @posix_memalign(ptr %1, i64 64, i64 8200)
  %7 = icmp eq i32 %6, 0
  br i1 %7, label %11, label %8

8:
  %9 = load ptr, ptr %2, align 8
  %10 = getelementptr inbounds i8, ptr %9, i64 552
  store ptr null, ptr %10, align 8
  call void @free(ptr %9)
  br label %39

11:
  %12 = load ptr, ptr %1, align 8
  store i64 256, ptr %12, align 8
  %13 = load ptr, ptr %2, align 8
  %14 = getelementptr inbounds i8, ptr %13, i64 552
  store ptr %12, ptr %14, align 8
  %15 = getelementptr inbounds i8, ptr %13, i64 264
  store i64 0, ptr %15, align 8
  %16 = getelementptr inbounds i8, ptr %13, i64 256
  store i64 0, ptr %16, align 128
  %17 = getelementptr inbounds i8, ptr %13, i64 128
  store i64 0, ptr %17, align 128
  store <4 x i64> zeroinitializer, ptr %13, align 128
  %18 = getelementptr inbounds i8, ptr %13, i64 272
  store i64 0, ptr %18, align 16
  %19 = getelementptr inbounds i8, ptr %13, i64 280
  br label %33

20:
  %21 = getelementptr inbounds i8, ptr %13, i64 576
  %22 = call i32 @pthread_mutex_init(ptr %21, ptr null)
  %23 = load ptr, ptr %2, align 8
  %24 = getelementptr inbounds i8, ptr %23, i64 704
  %25 = call i32 @pthread_mutex_init(ptr %24, ptr null)
  %26 = load ptr, ptr %2, align 8
  %27 = getelementptr inbounds i8, ptr %26, i64 832
  %28 = call i32 @pthread_cond_init(ptr %27, ptr null)
  %29 = load ptr, ptr %2, align 8
  %30 = getelementptr inbounds i8, ptr %29, i64 960
  %31 = call i32 @pthread_cond_init(ptr %30, ptr null)
  %32 = load ptr, ptr %2, align 8
  br label %39

33:
  %34 = phi i64 [ 0, %11 ], [ %37, %33 ]
  %35 = getelementptr inbounds %struct.alarm, ptr %19, i64 %34
  store i64 9223372036854775807, ptr %35, align 8
  %36 = getelementptr inbounds i8, ptr %35, i64 8
  store i64 -1, ptr %36, align 8
  %37 = add nuw nsw i64 %34, 1
  %38 = icmp eq i64 %37, 16
  br i1 %38, label %20, label %33

39:
  %40 = phi ptr [ null, %8 ], [ %32, %20 ], [ null, %0 ]
  ret ptr %40
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
  %15 = getelementptr inbounds i8, ptr %5, i64 8
  %16 = getelementptr inbounds i8, ptr %0, i64 536
  %17 = getelementptr inbounds i8, ptr %0, i64 544
  %18 = getelementptr inbounds i8, ptr %0, i64 8
  %19 = getelementptr inbounds i8, ptr %0, i64 264
  %20 = getelementptr inbounds i8, ptr %0, i64 704
  %21 = getelementptr inbounds i8, ptr %0, i64 960
  %22 = getelementptr inbounds i8, ptr %0, i64 272
  %23 = getelementptr inbounds i8, ptr %0, i64 280
  br label %24

24:
  %25 = phi i64 [ %6, %1 ], [ %26, %164 ]
  %26 = add nsw i64 %25, 1
  %27 = load atomic i64, ptr %7 seq_cst, align 8
  %28 = icmp sgt i64 %27, %25
  br i1 %28, label %64, label %29

29:
  %30 = call i32 @clock_gettime(i32 0, ptr %4)
  %31 = load i64, ptr %4, align 8
  %32 = load i64, ptr %8, align 8
  br label %33

33:
  %34 = phi i32 [ 0, %29 ], [ %41, %40 ]
  %35 = load atomic i64, ptr %7 seq_cst, align 8
  %36 = icmp sgt i64 %35, %25
  br i1 %36, label %64, label %37

37:
  call void @tileproof_relax()
  %38 = add nuw nsw i32 %34, 1
  %39 = icmp eq i32 %38, 16
  br i1 %39, label %42, label %40

40:
  %41 = phi i32 [ %38, %37 ], [ 0, %42 ]
  br label %33

42:
  %43 = call i32 @clock_gettime(i32 0, ptr %3)
  %44 = load i64, ptr %3, align 8
  %45 = load i64, ptr %9, align 8
  %46 = sub i64 %44, %31
  %47 = mul i64 %46, 1000000000
  %48 = sub i64 %45, %32
  %49 = add i64 %48, %47
  %50 = icmp ult i64 %49, 20000
  br i1 %50, label %40, label %51

51:
  %52 = call i32 @pthread_mutex_lock(ptr %10)
  %53 = load atomic i64, ptr %7 seq_cst, align 128
  %54 = icmp sgt i64 %53, %25
  br i1 %54, label %62, label %55

55:
  %56 = load atomic i64, ptr %11 seq_cst, align 16
  %57 = icmp eq i64 %56, 0
  br i1 %57, label %58, label %62

58:
  store atomic i64 1, ptr %12 seq_cst, align 128
  %59 = call i32 @pthread_cond_wait(ptr %13, ptr %10)
  %60 = load atomic i64, ptr %7 seq_cst, align 128
  %61 = icmp sgt i64 %60, %25
  br i1 %61, label %62, label %55

62:
  store atomic i64 0, ptr %12 seq_cst, align 128
  %63 = call i32 @pthread_mutex_unlock(ptr %10)
  br label %64

64:
  %65 = load atomic i64, ptr %11 seq_cst, align 16
  %66 = icmp eq i64 %65, 0
  br i1 %66, label %67, label %180

67:
  %68 = load atomic i64, ptr %14 seq_cst, align 8
  %69 = inttoptr i64 %68 to ptr
  %70 = getelementptr inbounds i8, ptr %69, i64 8
  %71 = load i64, ptr %69, align 8
  %72 = srem i64 %26, %71
  %73 = getelementptr inbounds %struct.entry, ptr %70, i64 %72
  %74 = load ptr, ptr %73, align 8
  %75 = getelementptr inbounds i8, ptr %73, i64 8
  %76 = load i64, ptr %75, align 8
  %77 = getelementptr inbounds i8, ptr %73, i64 16
  %78 = load ptr, ptr %77, align 8
  %79 = getelementptr inbounds i8, ptr %73, i64 24
  %80 = load i64, ptr %79, align 8
  %81 = icmp eq ptr %78, null
  br i1 %81, label %88, label %82

82:
  %83 = load atomic i64, ptr %11 seq_cst, align 16
  %84 = icmp eq i64 %83, 0
  br i1 %84, label %85, label %88

85:
  %86 = call i32 @tileproof_queue_until(ptr %78, i64 %80, i64 50000000)
  %87 = icmp eq i32 %86, 0
  br i1 %87, label %82, label %88

88:
  %89 = icmp sgt i64 %76, 0
  br i1 %89, label %90, label %151

90:
  %91 = phi i64 [ %149, %148 ], [ 0, %88 ]
  %92 = load atomic i64, ptr %11 seq_cst, align 16
  %93 = icmp eq i64 %92, 0
  br i1 %93, label %94, label %151

94:
  %95 = getelementptr inbounds %struct.step, ptr %74, i64 %91
  %96 = load i64, ptr %95, align 8
  switch i64 %96, label %148 [
    i64 0, label %97
    i64 1, label %127
    i64 2, label %135
  ]

97:
  %98 = getelementptr inbounds i8, ptr %95, i64 40
  %99 = load i64, ptr %98, align 8
  %100 = load i64, ptr %15, align 8
  %101 = icmp sgt i64 %99, %100
  br i1 %101, label %102, label %111

102:
  %103 = load ptr, ptr %5, align 8
  call void @free(ptr %103)
  %104 = call i32 @posix_memalign(ptr %5, i64 64, i64 %99)
  %105 = icmp eq i32 %104, 0
  %106 = select i1 %105, i64 %99, i64 0
  store i64 %106, ptr %15, align 8
  %107 = icmp eq i64 %106, 0
  br i1 %107, label %110, label %108

108:
  %109 = load i64, ptr %98, align 8
  br label %111

110:
  store ptr null, ptr %5, align 8
  br label %146

111:
  %112 = phi i64 [ %109, %108 ], [ %99, %97 ]
  %113 = load ptr, ptr %16, align 8
  %114 = load ptr, ptr %17, align 32
  %115 = getelementptr inbounds i8, ptr %95, i64 8
  %116 = load ptr, ptr %115, align 8
  %117 = getelementptr inbounds i8, ptr %95, i64 16
  %118 = load ptr, ptr %117, align 8
  %119 = getelementptr inbounds i8, ptr %95, i64 24
  %120 = load i64, ptr %119, align 8
  %121 = getelementptr inbounds i8, ptr %95, i64 32
  %122 = load i64, ptr %121, align 8
  %123 = load ptr, ptr %5, align 8
  call void %113(ptr %114, ptr %116, ptr %118, i64 %120, i64 %122, i64 %112, ptr %123)
  %124 = getelementptr inbounds i8, ptr %95, i64 48
  %125 = load ptr, ptr %124, align 8
  %126 = icmp eq ptr %125, null
  br i1 %126, label %148, label %142

127:
  %128 = getelementptr inbounds i8, ptr %95, i64 8
  %129 = load ptr, ptr %128, align 8
  %130 = getelementptr inbounds i8, ptr %95, i64 16
  %131 = load ptr, ptr %130, align 8
  %132 = getelementptr inbounds i8, ptr %95, i64 24
  %133 = load i64, ptr %132, align 8
  %134 = call ptr @memcpy(ptr %129, ptr %131, i64 %133)
  br label %148

135:
  %136 = getelementptr inbounds i8, ptr %95, i64 8
  %137 = load ptr, ptr %136, align 8
  %138 = getelementptr inbounds i8, ptr %95, i64 16
  %139 = load ptr, ptr %138, align 8
  %140 = call i32 %137(ptr %139)
  %141 = icmp eq i32 %140, 0
  br i1 %141, label %148, label %146

142:
  %143 = getelementptr inbounds i8, ptr %125, i64 8
  %144 = load i64, ptr %143, align 8
  %145 = icmp eq i64 %144, 9223372036854775807
  br i1 %145, label %148, label %146

146:
  %147 = atomicrmw add ptr %18, i64 1 seq_cst, align 8
  br label %148

148:
  %149 = add nuw nsw i64 %91, 1
  %150 = icmp eq i64 %149, %76
  br i1 %150, label %151, label %90

151:
  %152 = load atomic i64, ptr %11 seq_cst, align 16
  %153 = icmp eq i64 %152, 0
  br i1 %153, label %154, label %180

154:
  store atomic i64 %26, ptr %0 seq_cst, align 128
  %155 = load atomic i64, ptr %19 seq_cst, align 8
  %156 = icmp eq i64 %155, 0
  br i1 %156, label %161, label %157

157:
  %158 = call i32 @pthread_mutex_lock(ptr %20)
  %159 = call i32 @pthread_cond_broadcast(ptr %21)
  %160 = call i32 @pthread_mutex_unlock(ptr %20)
  br label %161

161:
  %162 = load atomic i64, ptr %22 seq_cst, align 16
  %163 = icmp eq i64 %162, 0
  br i1 %163, label %164, label %165

164:
  br label %24

165:
  store i64 1, ptr %2, align 8
  br label %166

166:
  %167 = phi i64 [ 0, %165 ], [ %177, %176 ]
  %168 = getelementptr inbounds %struct.alarm, ptr %23, i64 %167
  %169 = load atomic i64, ptr %168 seq_cst, align 8
  %170 = icmp sgt i64 %169, %26
  br i1 %170, label %176, label %171

171:
  store atomic i64 9223372036854775807, ptr %168 seq_cst, align 8
  %172 = getelementptr inbounds i8, ptr %168, i64 8
  %173 = load atomic i64, ptr %172 seq_cst, align 8
  %174 = trunc i64 %173 to i32
  %175 = call i64 @write(i32 %174, ptr %2, i64 8)
  br label %176

176:
  %177 = add nuw nsw i64 %167, 1
  %178 = icmp eq i64 %177, 16
  br i1 %178, label %179, label %166

179:
  br label %164

180:
  %181 = load ptr, ptr %5, align 8
  call void @free(ptr %181)
  %182 = call i32 @pthread_mutex_lock(ptr %20)
  %183 = getelementptr inbounds i8, ptr %0, i64 24
  store atomic i64 1, ptr %183 seq_cst, align 8
  %184 = call i32 @pthread_cond_broadcast(ptr %21)
  %185 = call i32 @pthread_mutex_unlock(ptr %20)
  ret ptr null
}

declare i32 @pthread_detach(i64)

declare void @tileproof_relax()

declare i32 @clock_gettime(i32, ptr)

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

declare i32 @pthread_cond_wait(ptr, ptr)

declare ptr @memcpy(ptr, ptr, i64)
