/*
 * Entry on an aarch64 board without an operating system (QEMU -M virt, EL1): vector unit on, memory mapped flat (first
 * GiB device, the rest normal cacheable: unaligned loads need that), bss cleared, then C.
 */
    .section .text.start, "ax"
    .globl _start
    .type _start, %function
_start:
    mrs     x0, mpidr_el1
    and     x0, x0, #0xff
    cbnz    x0, park
    ldr     x0, =ig_stack_top
    mov     sp, x0
    mov     x0, #(3 << 20)          /* CPACR_EL1.FPEN: no traps of vector instructions */
    msr     cpacr_el1, x0
    isb

    ldr     x1, =ig_page_table      /* level 1: 512 blocks of 1 GiB */
    ldr     x2, =0x00000000000405   /* block 0: access flag, attribute 1 (device) */
    str     x2, [x1], #8
    ldr     x2, =0x40000701         /* block 1: access flag, inner shareable, attribute 0 (normal) */
    mov     x3, #15
    mov     x4, #0x40000000
1:  str     x2, [x1], #8
    add     x2, x2, x4
    subs    x3, x3, #1
    b.ne    1b
    ldr     x0, =0x00ff             /* MAIR: 0 = normal write-back, 1 = device */
    msr     mair_el1, x0
    ldr     x0, =0x200003519        /* TCR: 39-bit addresses, 4 KiB granule, write-back, inner shareable */
    msr     tcr_el1, x0
    ldr     x0, =ig_page_table
    msr     ttbr0_el1, x0
    dsb     sy
    isb
    mrs     x0, sctlr_el1
    orr     x0, x0, #1              /* M */
    orr     x0, x0, #4              /* C */
    orr     x0, x0, #0x1000         /* I */
    bic     x0, x0, #2              /* A: unaligned access is fine */
    msr     sctlr_el1, x0
    isb

    ldr     x0, =ig_bss_start
    ldr     x1, =ig_bss_end
2:  cmp     x0, x1
    b.hs    3f
    str     xzr, [x0], #8
    b       2b
3:  bl      ig_bare_main
    ldr     x0, =0x84000008         /* PSCI SYSTEM_OFF */
    hvc     #0
park:
    wfe
    b       park
    .size _start, . - _start

    .section .tables, "aw", %nobits
    .balign 4096
ig_page_table:
    .skip 4096
