document.body.append("roger");
