/** Tells canaries and popularity of the clicks among new behaviours: not of impressions. */ export function countedClicks(isClick, watch, popularity) {
    return (events)=>{
        for (const { userId, itemId, action, timeMs } of events){
            if (!isClick(action)) continue;
            watch?.clicked(userId, itemId);
            popularity?.add(itemId, timeMs);
        }
    };
}

//# sourceMappingURL=counted-clicks.js.map