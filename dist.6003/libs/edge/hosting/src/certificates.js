const DAY_MS = 86_400_000;
/** A certificate that ends sooner is warned of, once a day. */ const WARN_DAYS = 14;
/** Follows the files of TLS of a process: their faults, and when their certificates end. */ export function watchCertificates(watched, { conditions, metrics, log }) {
    if (watched.length === 0) return;
    const ends = ()=>watched.flatMap((tls)=>tls.ends());
    metrics.showCertificates(ends);
    conditions.add({
        name: 'certificates',
        kind: 'dependency',
        isNeeded: false,
        read: ()=>{
            const reason = watched.flatMap((tls)=>tls.reason || []).join('; ');
            return {
                state: reason === '' ? 'ok' : 'degraded',
                reason
            };
        }
    });
    for (const tls of watched){
        tls.onChange(()=>log.info({
                ends: endsText(tls)
            }, 'files of TLS were read again'));
        tls.watch();
    }
    const warn = ()=>{
        for (const { field, endsMs } of ends()){
            const days = Math.floor((endsMs - Date.now()) / DAY_MS);
            if (days >= WARN_DAYS) continue;
            const what = days < 0 ? 'a certificate has ended' : 'a certificate ends soon';
            log.warn({
                field,
                days,
                ends: new Date(endsMs).toISOString()
            }, what);
        }
    };
    warn();
    setInterval(warn, DAY_MS).unref();
}
const endsText = (tls)=>tls.ends().map(({ field, endsMs })=>`${field} ${new Date(endsMs).toISOString()}`);

//# sourceMappingURL=certificates.js.map