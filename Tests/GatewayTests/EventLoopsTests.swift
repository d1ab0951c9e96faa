import Testing

@testable import GatewayHTTP

/// The cores that the kernel allows to a process.
@Suite struct EventLoopsTests {
    @Test(arguments: [
        ("Name:\tx\nCpus_allowed_list:\t0\nMems:\t0\n", 1), ("Cpus_allowed_list:\t0-1", 2),
        ("Cpus_allowed_list:\t0-3,8,10-11\n", 7),
    ])
    func listIsCounted(status: String, cores: Int) { #expect(EventLoops.allowedCores(status) == cores) }

    @Test(arguments: [
        "", "Cpus_allowed_list:", "Cpus_allowed_list:\tmany", "Cpus_allowed_list:\t3-1",
        "Cpus_allowed_list:\t0-99999999999999999999", "Cpus_allowed_list:\t-5",
    ])
    func invalidListsAreRefused(status: String) { #expect(EventLoops.allowedCores(status) ?? 0 == 0) }
}
