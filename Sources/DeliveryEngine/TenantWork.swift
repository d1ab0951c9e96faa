import Model

/// The urgent work of a tenant, or its other work. They are counted separately: a tenant's campaign must not delay its own one-time codes.
struct TenantWork: Hashable {
    private let tenant: TenantID
    private let isPressing: Bool

    init(_ tenant: TenantID, _ lane: Lane) {
        self.tenant = tenant
        isPressing = lane.isPressing
    }
}
